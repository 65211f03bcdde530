//! The fields of all forms: a label, the input, and its error.

use leptos::prelude::*;

use super::term::{GlossaryTerm, explains, label_with_terms};

/// An error in a field of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FormFieldError<F> {
    /// The field that has the error.
    pub(crate) field: F,
    /// The message, which starts in lower case and has no full stop.
    pub(crate) reason: String,
}

/// The errors that were found in the fields of a form.
pub(crate) struct FieldErrors<F>(pub(crate) Vec<FormFieldError<F>>);

impl<F> FieldErrors<F> {
    /// Adds the error of a field, with its reason.
    pub(crate) fn add(&mut self, field: F, reason: impl Into<String>) {
        let reason = reason.into();
        self.0.push(FormFieldError { field, reason });
    }

    /// Returns the value of a field, or adds its error.
    pub(crate) fn collect<T>(&mut self, field: F, found: Result<T, String>) -> Option<T> {
        found.map_err(|reason| self.add(field, reason)).ok()
    }
}

/// Identifies a field of a form.
pub(crate) trait FormFieldId: Copy + PartialEq + Send + Sync + 'static {
    /// Returns the id of the message beside the field, for `aria-describedby`.
    fn id(self) -> String;
}

/// Parses a whole number of at least `least`; `or` names another value that the field takes, and
/// ends the error message.
pub(crate) fn parse_integer_at_least<T: std::str::FromStr>(
    text: &str,
    least: u32,
    or: &str,
) -> Result<T, String> {
    let text = text.trim();
    let small = text.parse::<i64>().is_ok_and(|it| it < i64::from(least));
    match text.parse() {
        Ok(value) if !small => Ok(value),
        _ if text.is_empty() => Err(format!("enter a whole number of at least {least}{or}")),
        _ => Err(format!(
            "`{text}` is not valid: enter a whole number of at least {least}{or}"
        )),
    }
}

/// The values of a form, with their errors.
pub(crate) struct FormValuesAndErrors<V: Send + Sync + 'static, F: FormFieldId> {
    /// The values as typed. Numbers are stored as text, so that an invalid one can be kept.
    pub(crate) values: RwSignal<V>,
    /// The current errors.
    pub(crate) errors: Signal<Vec<FormFieldError<F>>>,
}

impl<V: Send + Sync, F: FormFieldId> Clone for FormValuesAndErrors<V, F> {
    fn clone(&self) -> FormValuesAndErrors<V, F> {
        *self
    }
}

impl<V: Send + Sync, F: FormFieldId> Copy for FormValuesAndErrors<V, F> {}

impl<V: Send + Sync, F: FormFieldId> FormValuesAndErrors<V, F> {
    /// Returns the error of a field.
    pub(crate) fn field_error(self, field: F) -> Option<String> {
        let wrong = self.errors.read();
        let found = wrong.iter().find(|it| it.field == field);
        found.map(|it| it.reason.clone())
    }

    /// Returns the value of `aria-invalid` of a field.
    pub(crate) fn aria_invalid(self, field: F) -> Option<&'static str> {
        self.field_error(field).map(|_| "true")
    }

    /// Returns a value through the function that gives mutable access to it.
    fn get<T: Clone>(self, place: fn(&mut V) -> &mut T) -> T {
        self.values.track();
        self.values.update_untracked(|it| place(it).clone())
    }

    /// Renders a field for a number, which is stored as text so that an invalid one can be kept.
    pub(crate) fn number_field(
        self,
        field: F,
        label: &'static str,
        text: fn(&mut V) -> &mut String,
    ) -> impl IntoView {
        view! { <FormTextField form=self field label inputmode="decimal" text/> }
    }

    /// Renders a drop-down list whose option values are stored as text. Each option has its value
    /// and display name.
    pub(crate) fn string_select<W: Into<String> + 'static>(
        self,
        label: &'static str,
        options: Vec<(W, W)>,
        text: fn(&mut V) -> &mut String,
    ) -> impl IntoView {
        let options = options.into_iter().map(|(word, name)| {
            let word: String = word.into();
            let own = word.clone();
            let selected = move || self.get(text) == own;
            view! { <option value=word prop:selected=selected>{name.into()}</option> }
        });
        let options = options.collect_view();
        let choose = move |word: String| self.values.update(|it| *text(it) = word);
        view! { <SelectField label choose>{options}</SelectField> }
    }

    /// Renders a drop-down list as [`FormValuesAndErrors::string_select`], with its error below.
    pub(crate) fn select_with_error<W: Into<String> + 'static>(
        self,
        field: F,
        label: &'static str,
        options: Vec<(W, W)>,
        text: fn(&mut V) -> &mut String,
    ) -> impl IntoView {
        view! {
            <div>
                {self.string_select(label, options, text)}
                <FieldErrorMessage form=self field/>
            </div>
        }
    }

    /// Returns the error of a field for an input that is not a [`FormTextField`].
    pub(crate) fn input_error(self, field: F) -> ReactiveFieldError {
        ReactiveFieldError {
            id: field.id(),
            reason: Signal::derive(move || self.field_error(field)),
        }
    }
}

/// The text of an input field.
#[derive(Clone, Copy)]
pub(crate) struct TextInputBinding {
    /// The current text.
    pub(crate) value: Signal<String>,
    /// Receives the text when the user changes it.
    pub(crate) set: Callback<String>,
}

impl From<RwSignal<String>> for TextInputBinding {
    fn from(text: RwSignal<String>) -> TextInputBinding {
        TextInputBinding {
            value: text.into(),
            set: Callback::new(move |it| text.set(it)),
        }
    }
}

/// The error of an input field.
#[derive(Clone)]
pub(crate) struct ReactiveFieldError {
    /// The id of the message, for `aria-describedby`.
    pub(crate) id: String,
    /// The message; none while there is no error.
    pub(crate) reason: Signal<Option<String>>,
}

/// Renders an error message beside its field.
#[component]
fn Message(mistake: ReactiveFieldError) -> impl IntoView {
    let message = move || {
        let reason = mistake.reason.get();
        reason.map(|it| view! { <span class="verdict failed">{it}</span> })
    };
    view! { <span id=mistake.id class="wrong" aria-live="polite">{message}</span> }
}

/// Renders the error of a field.
#[component]
pub(crate) fn FieldErrorMessage<V: Send + Sync + 'static, F: FormFieldId>(
    /// The form that holds the value and its errors.
    form: FormValuesAndErrors<V, F>,
    /// The field of the form.
    field: F,
) -> impl IntoView {
    view! { <Message mistake=form.input_error(field)/> }
}

/// Renders a labeled single-line text field with its note and error message.
#[component]
pub(crate) fn TextField(
    /// The label above the field.
    #[prop(into)]
    label: String,
    /// The text of the field.
    #[prop(into)]
    text: TextInputBinding,
    /// The type of the input, such as `password`.
    #[prop(optional)]
    kind: Option<&'static str>,
    /// The on-screen keyboard to use.
    #[prop(optional)]
    inputmode: Option<&'static str>,
    /// The value of the `autocomplete` attribute.
    #[prop(default = "off")]
    autocomplete: &'static str,
    /// An example that is shown while the field is empty.
    #[prop(optional)]
    placeholder: Option<&'static str>,
    /// The maximum length, in characters.
    #[prop(optional)]
    maxlength: Option<usize>,
    /// Whether the field must be filled in.
    #[prop(optional)]
    required: bool,
    /// The error of the field.
    #[prop(optional)]
    mistake: Option<ReactiveFieldError>,
    /// A note below the field.
    #[prop(optional_no_strip, into)]
    note: Option<&'static str>,
) -> impl IntoView {
    let reason = mistake.as_ref().map(|it| it.reason);
    let is_wrong = move || reason.is_some_and(|it| it.with(Option::is_some));
    let id = mistake.as_ref().map(|it| it.id.clone());
    view! {
        <label class="field" class:error=is_wrong>
            <span class="label">{label_with_terms(&label)}</span>
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

/// Renders a drop-down list with its label.
#[component]
pub(crate) fn SelectField(
    /// The label above the list.
    label: &'static str,
    /// Receives the value of the selected option.
    #[prop(into)]
    choose: Callback<String>,
    /// The options, in order.
    children: Children,
) -> impl IntoView {
    view! {
        <label class="field">
            <span class="label">{label_with_terms(label)}</span>
            <select on:change:target=move |event| choose.run(event.target().value())>
                {children()}
            </select>
        </label>
    }
}

/// Renders a text field of a form, with its error.
#[component]
pub(crate) fn FormTextField<V: Send + Sync + 'static, F: FormFieldId>(
    /// The form that holds the value and its errors.
    form: FormValuesAndErrors<V, F>,
    /// The field of the form.
    field: F,
    /// The label above the field.
    label: &'static str,
    /// The on-screen keyboard to use.
    #[prop(default = "text")]
    inputmode: &'static str,
    /// A note below the field.
    #[prop(optional)]
    note: Option<&'static str>,
    /// Returns the text of the field among the values.
    text: fn(&mut V) -> &mut String,
) -> impl IntoView {
    let text = TextInputBinding {
        value: Signal::derive(move || form.get(text)),
        set: Callback::new(move |typed| form.values.update(|it| *text(it) = typed)),
    };
    view! { <TextField label text inputmode note mistake=form.input_error(field)/> }
}

/// Renders a text field of a form for several lines, with its error.
#[component]
pub(crate) fn FormTextArea<V: Send + Sync + 'static, F: FormFieldId>(
    /// The form that holds the value and its errors.
    form: FormValuesAndErrors<V, F>,
    /// The field of the form.
    field: F,
    /// The label above the field.
    label: &'static str,
    /// The height of the field, in lines.
    rows: u32,
    /// Returns the text of the field among the values.
    text: fn(&mut V) -> &mut String,
) -> impl IntoView {
    let is_wrong = move || form.field_error(field).is_some();
    view! {
        <label class="field" class:error=is_wrong>
            <span class="label">{label_with_terms(label)}</span>
            <textarea
                rows=rows.to_string()
                aria-invalid=move || form.aria_invalid(field)
                aria-describedby=field.id()
                prop:value=move || form.get(text)
                on:input:target=move |event| {
                    let typed = event.target().value();
                    form.values.update(|it| *text(it) = typed);
                }
            ></textarea>
            <FieldErrorMessage form field/>
        </label>
    }
}

/// Renders a drop-down list of fixed values.
#[component]
pub(crate) fn FormSelect<V, F, T>(
    /// The form that holds the value.
    form: FormValuesAndErrors<V, F>,
    /// The label above the list.
    label: &'static str,
    /// Each value with its option value and display name.
    options: &'static [(T, &'static str, &'static str)],
    /// Returns the value among the values of the form.
    value: fn(&mut V) -> &mut T,
) -> impl IntoView
where
    V: Send + Sync + 'static,
    F: FormFieldId,
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
pub(crate) fn FormSelectWithComputedOptions<V, F, W>(
    /// The form that holds the value and its errors.
    form: FormValuesAndErrors<V, F>,
    /// The label above the list.
    label: &'static str,
    /// The options, each with its value and display name.
    options: Vec<(W, W)>,
    /// Returns the selected option value.
    get: fn(&V) -> String,
    /// Sets the selected option value.
    set: fn(&mut V, String),
) -> impl IntoView
where
    V: Send + Sync + 'static,
    F: FormFieldId,
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

/// Renders a checkbox that is stored in a form.
#[component]
pub(crate) fn FormCheckbox<V: Send + Sync + 'static, F: FormFieldId>(
    /// The form that holds the value and its errors.
    form: FormValuesAndErrors<V, F>,
    /// The label beside the box.
    label: &'static str,
    /// Returns the Boolean among the values.
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

/// Renders one radio button of a group.
#[component]
pub(crate) fn RadioButton<S, C>(
    /// The name of the group of radio buttons.
    group: &'static str,
    /// The term that the label explains.
    #[prop(optional_no_strip, into)]
    term: Option<GlossaryTerm>,
    /// Returns whether the button is selected.
    chosen: S,
    /// Selects the button.
    choose: C,
    /// The label beside the button.
    children: Children,
) -> impl IntoView
where
    S: Fn() -> bool + Send + Sync + 'static,
    C: Fn() + 'static,
{
    view! {
        <label {..explains(term)}>
            <input
                type="radio"
                name=group
                prop:checked=chosen
                aria-description=term.map(GlossaryTerm::definition)
                on:change=move |_| choose()
            />
            {children()}
        </label>
    }
}
