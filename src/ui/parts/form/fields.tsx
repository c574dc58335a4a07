import type { ComponentChildren } from "preact"
import { useEffect, useId, useState } from "preact/hooks"

interface FieldProps {
  label: ComponentChildren
  /** Help below the field, replaced by the error if there is one. */
  note?: ComponentChildren
  error?: string | undefined
}

interface Described {
  id: string
  "aria-describedby"?: string
  "aria-invalid"?: boolean
}

/** A label above and help or an error below, linked to the control that `children` renders. */
export function Field({ label, note, error, children }: FieldProps & { children(described: Described): ComponentChildren }) {
  const id = useId()
  const noteId = `${id}-note`
  const described: Described = { id, ...((note || error) && { "aria-describedby": noteId }), ...(error && { "aria-invalid": true }) }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(described)}
      {error ? (
        <span id={noteId} class="field-error">
          {error}
        </span>
      ) : (
        note && (
          <span id={noteId} class="field-note">
            {note}
          </span>
        )
      )}
    </div>
  )
}

/** Optional attributes of the browser's controls. */
interface Control {
  autocomplete?: string
  autofocus?: boolean
  disabled?: boolean
  placeholder?: string
  readOnly?: boolean
  required?: boolean
}

interface Text extends FieldProps, Control {
  value: string
  onValue(value: string): void
  type?: "text" | "email" | "password" | "number" | "url" | "search" | "date" | "datetime-local"
  inputMode?: "numeric" | "decimal" | "email" | "url" | "text"
  /** Whether the text is shown in the code font. */
  code?: boolean
  min?: number | string
  max?: number | string
  step?: number
  maxLength?: number
  /** Id of a `datalist` of suggestions. */
  list?: string
}

export const TextField = ({ label, note, error, onValue, code, ...input }: Text) => (
  <Field label={label} note={note} error={error}>
    {(described) => (
      <input
        class="input"
        data-code={code || undefined}
        {
          ...(input as object) /* the type is a union by kind of input, which a variable kind can't satisfy */
        }
        {...described}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
    )}
  </Field>
)

interface Area extends FieldProps, Control {
  value: string
  onValue(value: string): void
  rows?: number
}

export const TextArea = ({ label, note, error, onValue, ...area }: Area) => (
  <Field label={label} note={note} error={error}>
    {(described) => <textarea class="input" {...area} {...described} onInput={(event) => onValue(event.currentTarget.value)} />}
  </Field>
)

interface Select extends FieldProps, Control {
  value: string
  onValue(value: string): void
  options: readonly { value: string; label: string }[]
}

export const SelectField = ({ label, note, error, onValue, options, value, ...select }: Select) => (
  <Field label={label} note={note} error={error}>
    {(described) => (
      <select class="input" {...select} {...described} onChange={(event) => onValue(event.currentTarget.value)}>
        {options.map((option) => (
          <option key={option.value} value={option.value} selected={option.value === value}>
            {option.label}
          </option>
        ))}
      </select>
    )}
  </Field>
)

interface CheckboxProps {
  label: ComponentChildren
  note?: ComponentChildren
  checked: boolean
  onChange(checked: boolean): void
  disabled?: boolean
  /** Name of a group of radio buttons; without it the choice is a checkbox. */
  name?: string
}

export function Checkbox({ label, note, checked, onChange, disabled, name }: CheckboxProps) {
  const id = useId()
  return (
    <div class="choice">
      <input
        id={id}
        type={name ? "radio" : "checkbox"}
        name={name}
        checked={checked}
        disabled={disabled}
        aria-describedby={note ? `${id}-note` : undefined}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      {note && (
        <span id={`${id}-note`} class="field-note">
          {note}
        </span>
      )}
    </div>
  )
}

/** Search field of a list. Reports the text after a pause in typing. */
export function SearchField({ label, value, onValue }: { label: string; value: string; onValue(value: string): void }) {
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  useEffect(() => {
    if (typed === value) return
    const timer = setTimeout(() => onValue(typed), 250)
    return () => clearTimeout(timer)
  }, [typed])
  return (
    <Field label={label}>
      {(described) => (
        <input class="input" type="search" {...described} value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
      )}
    </Field>
  )
}

/** A row of filter fields above a list. */
export const FilterRow = ({ label, children }: { label: string; children: ComponentChildren }) => (
  <div class="filter-row" role="search" aria-label={label}>
    {children}
  </div>
)

/** Returns the trimmed, non-empty lines of a text. */
export const linesOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
