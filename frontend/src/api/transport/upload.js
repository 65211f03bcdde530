// A request that reports how much of its body has been sent, which `fetch` does not.

export class ProgressRequest {
    #request = new XMLHttpRequest();
    #isCanceled = false;

    // Resolves to the status and the text of the response; rejects without one.
    post(address, headers, body, sent) {
        const request = this.#request;
        if (this.#isCanceled) return Promise.reject('canceled');
        return new Promise((resolve, reject) => {
            request.open('POST', address);
            headers.forEach(([name, value]) => request.setRequestHeader(name, value));
            request.upload.onprogress = event => sent(event.loaded / (event.total || 1));
            request.upload.onload = () => sent(1);
            request.onload = () => resolve([request.status, request.responseText]);
            request.onerror = () => reject('the connection broke');
            request.onabort = () => reject('canceled');
            request.send(body);
        });
    }

    cancel() {
        this.#isCanceled = true;
        this.#request.abort();
    }
}
