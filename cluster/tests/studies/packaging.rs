//! The files in `packaging/cluster`: their commands have options that the program knows, processes
//! find each other, and containers can change nothing but what they are given.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::command_lines::KnownCommands;
use crate::root;

/// The user and group of the image.
const IMAGE_USER: u64 = 65_532;

fn packaging_file(name: &str) -> String {
    fs::read_to_string(root().join("packaging/cluster").join(name)).unwrap()
}

/// Returns the documents of a YAML file.
fn documents(name: &str) -> Vec<Value> {
    let text = packaging_file(name);
    let read = serde_norway::Deserializer::from_str(&text).map(|document| {
        let mut document = serde_norway::Value::deserialize(document).unwrap();
        document.apply_merge().unwrap();
        serde_json::to_value(document).unwrap()
    });
    read.collect()
}

/// Returns the strings of a list.
fn strings(list: &Value) -> Vec<&str> {
    let list = list
        .as_array()
        .unwrap_or_else(|| panic!("{list} is no list"));
    list.iter().map(|it| it.as_str().unwrap()).collect()
}

/// Returns the values that follow an option.
fn values_of<'a>(words: &[&'a str], option: &str) -> Vec<&'a str> {
    let pairs = words.windows(2).filter(|it| it[0] == option);
    pairs.map(|it| it[1]).collect()
}

/// Returns whether an object has all the entries of another one.
fn has_all(object: &Value, entries: &Value) -> bool {
    let mut entries = entries.as_object().unwrap().iter();
    entries.all(|(key, value)| object.get(key) == Some(value))
}

#[test]
fn containers_of_compose_fit_together() {
    let compose = documents("compose.yaml").remove(0);
    let services = compose["services"].as_object().unwrap();
    let containerfile = packaging_file("Containerfile");
    let user = format!("{IMAGE_USER}:{IMAGE_USER}");
    assert!(containerfile.contains(&format!("\nUSER {user}\n")));
    let mut known = KnownCommands::default();
    for (name, service) in services {
        assert_eq!(service["user"], user, "{name}");
        assert_eq!(service["read_only"], true, "{name}");
        assert_eq!(strings(&service["cap_drop"]), ["ALL"], "{name}");
        let security = strings(&service["security_opt"]);
        assert_eq!(security, ["no-new-privileges:true"], "{name}");
        assert!(service.get("ports").is_none(), "{name}");
        let mounts = strings(&service["volumes"]);
        for mount in mounts.iter().filter(|it| !it.starts_with('$')) {
            let (volume, folder) = mount.split_once(':').unwrap();
            assert!(compose["volumes"].get(volume).is_some(), "{mount}");
            assert!(containerfile.contains(&format!("\"{folder}\"")), "{mount}");
        }
        let storage = service["environment"]["AXIOSCOPE_STORAGE"].as_str();
        let folder = storage.unwrap().strip_prefix("file://").unwrap();
        let is_of_storage = |it: &&&str| it.ends_with(&format!(":{folder}"));
        assert!(mounts.iter().find(is_of_storage).is_some(), "{name}");

        // The shell of an executor finds out its address.
        let command = strings(&service["command"]).join(" ");
        let command = command.replace("\"$$(hostname -i)\"", "10.0.0.1");
        let line = match service.get("entrypoint") {
            Some(shell) => {
                assert_eq!(strings(shell), ["/bin/sh", "-c"], "{name}");
                command
            }
            None => format!("axioscope-cluster {command}"),
        };
        assert!(line.contains("axioscope-cluster "), "{line}");
        known.expect_valid(&line);
        let words: Vec<&str> = line.split(' ').collect();
        for address in values_of(&words, "--scheduler") {
            let (host, port) = address.split_once(':').unwrap();
            let scheduler = strings(&services[host]["command"]);
            assert_eq!(
                values_of(&scheduler, "--listen"),
                [format!("0.0.0.0:{port}")]
            );
        }
    }
    assert_eq!(services.len(), 3);
}

#[test]
fn the_objects_of_kubernetes_fit_together() {
    let objects = documents("kubernetes.yaml");
    let of_kind = |kind: &str| -> BTreeMap<&str, &Value> {
        let found = objects.iter().filter(|it| it["kind"] == kind);
        found
            .map(|it| (it["metadata"]["name"].as_str().unwrap(), it))
            .collect()
    };
    let (deployments, services) = (of_kind("Deployment"), of_kind("Service"));
    let pods = objects
        .iter()
        .filter(|it| it["spec"].get("template").is_some());
    let pods: Vec<&Value> = pods.map(|it| &it["spec"]["template"]).collect();
    assert_eq!(pods.len(), 5, "two pools and a driver");

    let policy = of_kind("NetworkPolicy")["axioscope-cluster"];
    let selector = &policy["spec"]["podSelector"];
    let allowed = json!([{ "from": [{ "podSelector": selector }] }]);
    assert_eq!(policy["spec"]["ingress"], allowed);
    let part_of_cluster = json!({ "app.kubernetes.io/part-of": "axioscope-cluster" });
    assert_eq!(selector["matchLabels"], part_of_cluster);

    let mut known = KnownCommands::default();
    for pod in pods {
        let spec = &pod["spec"];
        let labels = &pod["metadata"]["labels"];
        assert!(has_all(labels, &part_of_cluster), "{labels}");
        assert_eq!(spec["securityContext"]["runAsNonRoot"], true, "{labels}");
        assert_eq!(spec["securityContext"]["runAsUser"], IMAGE_USER, "{labels}");
        assert_eq!(spec["automountServiceAccountToken"], false, "{labels}");
        let container = &spec["containers"][0];
        let security = &container["securityContext"];
        assert_eq!(security["readOnlyRootFilesystem"], true, "{labels}");
        assert_eq!(security["allowPrivilegeEscalation"], false, "{labels}");
        assert_eq!(strings(&security["capabilities"]["drop"]), ["ALL"]);
        let requests = &container["resources"]["requests"];
        assert!(requests["cpu"].is_string() && requests["memory"].is_string());

        let volumes = spec["volumes"].as_array().unwrap();
        let mounts = container["volumeMounts"].as_array().unwrap();
        let names = |list: &Vec<Value>| -> BTreeSet<String> {
            list.iter().map(|it| it["name"].to_string()).collect()
        };
        assert_eq!(names(volumes), names(mounts), "{labels}");
        let is_temporary = |it: &&Value| it["mountPath"] == "/tmp";
        let temporary = &mounts.iter().find(is_temporary).unwrap()["name"];
        let volume = volumes.iter().find(|it| it["name"] == *temporary).unwrap();
        assert!(volume.get("emptyDir").is_some(), "{labels}");

        let words = strings(&container["args"]);
        known.expect_valid(&format!("axioscope-cluster {}", words.join(" ")));
        for option in ["--tls-ca", "--tls-cert", "--tls-key"] {
            let files = values_of(&words, option);
            assert!(
                files.len() == 1 && files[0].starts_with("/tls/"),
                "{labels}"
            );
        }
        for option in ["--scheduler", "--gpu-scheduler"] {
            for address in values_of(&words, option) {
                let (host, port) = address.split_once(':').unwrap();
                let service = &services[host]["spec"];
                assert_eq!(service["ports"][0]["port"].to_string(), port, "{address}");
                let template = &deployments[host]["spec"]["template"];
                assert!(has_all(
                    &template["metadata"]["labels"],
                    &service["selector"]
                ));
                let scheduler = &template["spec"]["containers"][0];
                let listen = format!("$(POD_IP):{port}");
                let arguments = strings(&scheduler["args"]);
                assert_eq!(values_of(&arguments, "--listen"), [listen], "{address}");
            }
        }
        // An address in the arguments is that of the pod.
        if words.iter().any(|it| it.contains("$(POD_IP)")) {
            let address = &container["env"][0];
            assert_eq!(address["name"], "POD_IP", "{labels}");
            let field = &address["valueFrom"]["fieldRef"]["fieldPath"];
            assert_eq!(field, "status.podIP", "{labels}");
        }
    }
    for (name, deployment) in deployments {
        let spec = &deployment["spec"];
        let labels = &spec["template"]["metadata"]["labels"];
        let selected = &spec["selector"]["matchLabels"];
        assert!(has_all(labels, selected), "{name}");
        // No other deployment is selected.
        let selecting = objects.iter().filter(|it| {
            let labels = it.pointer("/spec/template/metadata/labels");
            labels.is_some_and(|it| has_all(it, selected))
        });
        assert_eq!(selecting.count(), 1, "{name}");
    }
}
