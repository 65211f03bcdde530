//! The fields of every form: a label, what is typed or chosen, and what is wrong with it.

use leptos::prelude::*;

/// What is wrong with a field, and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FormFieldError<F> {
    /// The field that holds the mistake.
    pub(crate) field: F,
    /// Starts small, without full stop.
    pub(crate) reason: String,
}

/// The name of a field in its form.
pub(crate) trait FieldName: Copy + PartialEq + Send + Sync + 'static {
    /// Returns the id of the message beside the field, for `aria-describedby`.
    fn id(self) -> String;
}

/// What is typed into a form, and what is wrong with it.
pub(crate) struct FormState<V: Send + Sync + 'static, F: FieldName> {
    /// As typed; a mistake is text, so a number is text.
    pub(crate) values: RwSignal<V>,
    /// Everything that is wrong now.
    pub(crate) errors: Signal<Vec<FormFieldError<F>>>,
}

impl<V: Send + Sync, F: FieldName> Clone for FormState<V, F> {
    fn clone(&self) -> FormState<V, F> {
        *self
    }
}

impl<V: Send + Sync, F: FieldName> Copy for FormState<V, F> {}

impl<V: Send + Sync, F: FieldName> FormState<V, F> {
    /// Returns what is wrong with a field.
    pub(crate) fn reason(self, field: F) -> Option<String> {
        let wrong = self.errors.read();
        let found = wrong.iter().find(|it| it.field == field);
        found.map(|it| it.reason.clone())
    }

    /// Returns the value of `aria-invalid` of a field.
    pub(crate) fn invalid(self, field: F) -> Option<&'static str> {
        self.reason(field).map(|_| "true")
    }

    /// Returns a value by the same way by which it is changed.
    fn get<T: Clone>(self, place: fn(&mut V) -> &mut T) -> T {
        self.values.track();
        self.values.update_untracked(|it| place(it).clone())
    }

    fn input_error(self, field: F) -> InputError {
        InputError {
            id: field.id(),
            reason: Signal::derive(move || self.reason(field)),
        }
    }
}

/// The text of a field.
#[derive(Clone, Copy)]
pub(crate) struct TextInput {
    /// The text of the field as it stands.
    pub(crate) value: Signal<String>,
    /// Takes what is typed.
    pub(crate) set: Callback<String>,
}

impl From<RwSignal<String>> for TextInput {
    fn from(text: RwSignal<String>) -> TextInput {
        TextInput {
            value: text.into(),
            set: Callback::new(move |it| text.set(it)),
        }
    }
}

/// What is wrong with the text of a field.
#[derive(Clone)]
pub(crate) struct InputError {
    /// Of the message, for `aria-describedby`.
    pub(crate) id: String,
    /// None while nothing is wrong.
    pub(crate) reason: Signal<Option<String>>,
}

/// The message of a mistake, beside its field.
#[component]
fn Message(mistake: InputError) -> impl IntoView {
    let message = move || {
        let reason = mistake.reason.get();
        reason.map(|it| view! { <span class="verdict bad">{it}</span> })
    };
    view! { <span id=mistake.id class="wrong" aria-live="polite">{message}</span> }
}

/// What is wrong with a field.
#[component]
pub(crate) fn FieldErrorMessage<V: Send + Sync + 'static, F: FieldName>(
    /// The form that holds the value and its mistakes.
    form: FormState<V, F>,
    /// The field of the form that is shown.
    field: F,
) -> impl IntoView {
    view! { <Message mistake=form.input_error(field)/> }
}

/// Renders a labeled single-line text field with its note and error message.
#[component]
pub(crate) fn TextField(
    /// The label above the line.
    #[prop(into)]
    label: String,
    /// What is typed.
    #[prop(into)]
    text: TextInput,
    /// `password`, say.
    #[prop(optional)]
    kind: Option<&'static str>,
    /// Which keyboard it is typed with.
    #[prop(optional)]
    inputmode: Option<&'static str>,
    /// What the browser may fill in.
    #[prop(default = "off")]
    autocomplete: &'static str,
    /// An example, while nothing is typed.
    #[prop(optional)]
    placeholder: Option<&'static str>,
    /// The longest text that is taken, in characters.
    #[prop(optional)]
    maxlength: Option<usize>,
    /// Whether the form needs it.
    #[prop(optional)]
    required: bool,
    /// What is wrong with it.
    #[prop(optional)]
    mistake: Option<InputError>,
    /// A note below the line.
    #[prop(optional)]
    note: Option<&'static str>,
) -> impl IntoView {
    let reason = mistake.as_ref().map(|it| it.reason);
    let is_wrong = move || reason.is_some_and(|it| it.with(Option::is_some));
    let id = mistake.as_ref().map(|it| it.id.clone());
    view! {
        <label class="field" class:error=is_wrong>
            <span class="label">{label}</span>
            <input
                type=kind
                inputmode=inputmode
                autocomplete=autocomplete
                placeholder=placeholder
                maxlength=maxlength.map(|it| it.to_string())
                required=required
                aria-invalid=move || is_wrong().then_some("true")
                aria-describedby=id
                prop:value=move || text.value.get()
                on:input:target=move |event| text.set.run(event.target().value())
            />
            {mistake.map(|mistake| view! { <Message mistake/> })}
            {note.map(|it| view! { <span class="note">{it}</span> })}
        </label>
    }
}

/// A list to choose from.
#[component]
pub(crate) fn SelectField(
    /// The label above the list.
    label: &'static str,
    /// Takes the value of the option that is chosen.
    #[prop(into)]
    choose: Callback<String>,
    /// The options, in the order in which they are listed.
    children: Children,
) -> impl IntoView {
    view! {
        <label class="field">
            <span class="label">{label}</span>
            <select on:change:target=move |event| choose.run(event.target().value())>
                {children()}
            </select>
        </label>
    }
}

/// A line of a form, with what is wrong in it.
#[component]
pub(crate) fn FormTextField<V: Send + Sync + 'static, F: FieldName>(
    /// The form that holds the value and its mistakes.
    form: FormState<V, F>,
    /// The field of the form that is shown.
    field: F,
    /// The label above the line.
    label: &'static str,
    /// Which keyboard it is typed with.
    #[prop(default = "text")]
    inputmode: &'static str,
    /// Its text among the values.
    text: fn(&mut V) -> &mut String,
) -> impl IntoView {
    let text = TextInput {
        value: Signal::derive(move || form.get(text)),
        set: Callback::new(move |typed| form.values.update(|it| *text(it) = typed)),
    };
    view! { <TextField label text inputmode mistake=form.input_error(field)/> }
}

/// A number as text, since a mistake is text.
#[component]
pub(crate) fn FormNumberField<V: Send + Sync + 'static, F: FieldName>(
    /// The form that holds the value and its mistakes.
    form: FormState<V, F>,
    /// The field of the form that is shown.
    field: F,
    /// The label above the line.
    label: &'static str,
    /// Its text among the values.
    text: fn(&mut V) -> &mut String,
) -> impl IntoView {
    view! { <FormTextField form field label inputmode="decimal" text/> }
}

/// A drop-down list, which chooses one of several values.
#[component]
pub(crate) fn FormSelect<V, F, T>(
    /// The form that holds the value.
    form: FormState<V, F>,
    /// The label above the list.
    label: &'static str,
    /// Each value with its word in the list and its words for people.
    options: &'static [(T, &'static str, &'static str)],
    /// The value among the values of the form.
    value: fn(&mut V) -> &mut T,
) -> impl IntoView
where
    V: Send + Sync + 'static,
    F: FieldName,
    T: Copy + PartialEq + Send + Sync + 'static,
{
    let listed = options.iter().map(|&(own, word, name)| {
        let selected = move || form.get(value) == own;
        view! { <option value=word prop:selected=selected>{name}</option> }
    });
    let listed = listed.collect_view();
    let choose = move |word: String| {
        if let Some(chosen) = options.iter().find(|it| it.1 == word) {
            form.values.update(|it| *value(it) = chosen.0);
        }
    };
    view! { <SelectField label choose>{listed}</SelectField> }
}

/// Renders a drop-down list whose options are computed at run time, with its value stored in a
/// form.
#[component]
pub(crate) fn FormOwnedSelect<V, F, W>(
    /// The form that holds the value and its mistakes.
    form: FormState<V, F>,
    /// The label above the list.
    label: &'static str,
    /// Word in the values and words for people.
    options: Vec<(W, W)>,
    /// Reads the word.
    get: fn(&V) -> String,
    /// Writes it.
    set: fn(&mut V, String),
) -> impl IntoView
where
    V: Send + Sync + 'static,
    F: FieldName,
    W: Into<String> + 'static,
{
    let options = options.into_iter().map(|(word, name)| {
        let word: String = word.into();
        let own = word.clone();
        let selected = move || form.values.with(get) == own;
        view! { <option value=word prop:selected=selected>{name.into()}</option> }
    });
    let options = options.collect_view();
    let choose = move |word| form.values.update(|it| set(it, word));
    view! { <SelectField label choose>{options}</SelectField> }
}

/// One of several words that the values hold as they are.
#[component]
pub(crate) fn FormStringSelect<V, F>(
    /// The form that holds the value and its mistakes.
    form: FormState<V, F>,
    /// The label above the list.
    label: &'static str,
    /// Words in the values and words for people.
    options: Vec<(&'static str, &'static str)>,
    /// Its text among the values.
    text: fn(&mut V) -> &mut String,
) -> impl IntoView
where
    V: Send + Sync + 'static,
    F: FieldName,
{
    let options = options.into_iter().map(|(word, name)| {
        let selected = move || form.get(text) == word;
        view! { <option value=word prop:selected=selected>{name}</option> }
    });
    let options = options.collect_view();
    let choose = move |word: String| form.values.update(|it| *text(it) = word);
    view! { <SelectField label choose>{options}</SelectField> }
}

/// Something that is so or not.
#[component]
pub(crate) fn FormCheckbox<V: Send + Sync + 'static, F: FieldName>(
    /// The form that holds the value and its mistakes.
    form: FormState<V, F>,
    /// Beside the box.
    label: &'static str,
    /// Whether it is so, among the values.
    on: fn(&mut V) -> &mut bool,
) -> impl IntoView {
    let turn = move |_| {
        form.values.update(|it| {
            let on = on(it);
            *on = !*on;
        });
    };
    view! {
        <label>
            <input type="checkbox" prop:checked=move || form.get(on) on:change=turn/>
            {label}
        </label>
    }
}

/// One of several ways, of which one is chosen.
#[component]
pub(crate) fn RadioButton<S, C>(
    /// The name of the ways.
    group: &'static str,
    /// What it means.
    #[prop(optional)]
    title: Option<&'static str>,
    /// Whether it is the chosen one.
    chosen: S,
    /// Chooses it.
    choose: C,
    /// Beside the button.
    children: Children,
) -> impl IntoView
where
    S: Fn() -> bool + Send + Sync + 'static,
    C: Fn() + 'static,
{
    view! {
        <label title=title>
            <input type="radio" name=group prop:checked=chosen on:change=move |_| choose()/>
            {children()}
        </label>
    }
}
