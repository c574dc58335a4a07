import { CopyButton } from "../../parts/copy-button.tsx"
import { Field } from "../../parts/fields.tsx"

/** A secret in a field of its own, where the focus goes, selected; it is in no address. */
export function ShownOnce({ label, secret, note }: { label: string; secret: string; note: string }) {
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
