import { CopyButton } from "./copy-button.tsx"
import { Field } from "./form/fields.tsx"

/** A secret in a selected, read-only field with a copy button. It never appears in a URL. */
export function OneTimeSecret({ label, secret, note }: { label: string; secret: string; note: string }) {
  return (
    <div class="joined">
      <Field label={label} note={note}>
        {(described) => (
          <input
            autofocus
            class="input"
            data-code
            readOnly
            autocomplete="off"
            spellcheck={false}
            value={secret}
            {...described}
            onFocus={(event) => event.currentTarget.select()}
          />
        )}
      </Field>
      <CopyButton text={secret} />
    </div>
  )
}
