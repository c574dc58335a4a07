import { useId, useState } from "preact/hooks"
import type { Role } from "../../../../domain/organization.ts"
import { Button, IconButton } from "../../../parts/button.tsx"
import { SelectField } from "../../../parts/form/fields.tsx"
import { permissionsOfRole, permissionWords } from "./roles.ts"

export interface Exceptions {
  grants: readonly string[]
  denies: readonly string[]
}

interface ExceptionsFieldProps {
  role: Role
  /** Permissions of the user who edits the member. Only these can be granted or denied. */
  held: readonly string[]
  value: Exceptions
  onValue(value: Exceptions): void
}

/** Grants or denies single permissions in addition to the role. */
export function ExceptionsField({ role, held, value, onValue }: ExceptionsFieldProps) {
  const id = useId()
  const { grants, denies } = value
  return (
    <section class="stack" aria-labelledby={id}>
      <h3 id={id}>Exceptions</h3>
      {grants.length + denies.length === 0 && <p class="small quiet">No exceptions. The role's permissions apply.</p>}
      <ul>
        {grants.map((name) => (
          <ExceptionRow
            key={name}
            text={`Can also ${permissionWords(name)}`}
            onRemove={() => onValue({ grants: without(grants, name), denies })}
          />
        ))}
        {denies.map((name) => (
          <ExceptionRow
            key={name}
            text={`Can't ${permissionWords(name)}`}
            onRemove={() => onValue({ grants, denies: without(denies, name) })}
          />
        ))}
      </ul>
      <AddException
        options={offered(role, held, value)}
        onAdd={(kind, name) => onValue(kind === "grant" ? { grants: [...grants, name], denies } : { grants, denies: [...denies, name] })}
      />
    </section>
  )
}

const without = (names: readonly string[], name: string): string[] => names.filter((one) => one !== name)

const ExceptionRow = ({ text, onRemove }: { text: string; onRemove(): void }) => (
  <li class="row spread">
    <span>{text}</span>
    <IconButton icon="close" label={`Remove exception: ${text}`} onClick={onRemove} />
  </li>
)

type Kind = "grant" | "deny"

/** Returns the exceptions that make a difference: grants the role lacks and denials of permissions it has. */
function offered(role: Role, held: readonly string[], { grants, denies }: Exceptions): { value: string; label: string }[] {
  const open = held.filter((name) => !grants.includes(name) && !denies.includes(name))
  const grantable = open.filter((name) => permissionsOfRole(role, name) !== true)
  const deniable = open.filter((name) => permissionsOfRole(role, name) !== false)
  return [
    ...grantable.map((name) => ({ value: `grant ${name}`, label: `Can also ${permissionWords(name)}` })),
    ...deniable.map((name) => ({ value: `deny ${name}`, label: `Can't ${permissionWords(name)}` })),
  ]
}

function AddException({ options, onAdd }: { options: { value: string; label: string }[]; onAdd(kind: Kind, name: string): void }) {
  const [chosen, setChosen] = useState("")
  if (options.length === 0) return null
  const selected = options.find(({ value }) => value === chosen) ?? options[0]
  return (
    <div class="joined">
      <SelectField label="Exception" value={selected?.value ?? ""} onValue={setChosen} options={options} />
      <Button
        onClick={() => {
          const [kind, name] = (selected?.value ?? "").split(" ")
          if (name) onAdd(kind as Kind, name)
        }}
      >
        Add exception
      </Button>
    </div>
  )
}
