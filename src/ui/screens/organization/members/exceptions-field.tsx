import { useId, useState } from "preact/hooks"
import type { Role } from "../../../domain/organization.ts"
import { Button, IconButton } from "../../parts/button.tsx"
import { SelectField } from "../../parts/fields.tsx"
import { givenByRole, permissionWords } from "./roles.ts"

export interface Exceptions {
  grants: readonly string[]
  denies: readonly string[]
}

interface ExceptionsFieldProps {
  role: Role
  /** What the one who gives holds: nothing else can be given or taken. */
  held: readonly string[]
  value: Exceptions
  onValue(value: Exceptions): void
}

/** Single permissions more or less than the role has. */
export function ExceptionsField({ role, held, value, onValue }: ExceptionsFieldProps) {
  const id = useId()
  const { grants, denies } = value
  return (
    <section class="stack" aria-labelledby={id}>
      <h3 id={id}>Exceptions</h3>
      {grants.length + denies.length === 0 && <p class="small quiet">None: what the role may do, and no more.</p>}
      <ul>
        {grants.map((name) => (
          <ExceptionRow
            key={name}
            text={`May also ${permissionWords(name)}`}
            onRemove={() => onValue({ grants: without(grants, name), denies })}
          />
        ))}
        {denies.map((name) => (
          <ExceptionRow
            key={name}
            text={`May not ${permissionWords(name)}`}
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
    <IconButton icon="close" label={`Take away: ${text}`} onClick={onRemove} />
  </li>
)

type Kind = "grant" | "deny"

/** Only what makes a difference: a grant of what the role lacks, a denial of what it has. */
function offered(role: Role, held: readonly string[], { grants, denies }: Exceptions): { value: string; label: string }[] {
  const open = held.filter((name) => !grants.includes(name) && !denies.includes(name))
  const grantable = open.filter((name) => givenByRole(role, name) !== true)
  const deniable = open.filter((name) => givenByRole(role, name) !== false)
  return [
    ...grantable.map((name) => ({ value: `grant ${name}`, label: `May also ${permissionWords(name)}` })),
    ...deniable.map((name) => ({ value: `deny ${name}`, label: `May not ${permissionWords(name)}` })),
  ]
}

function AddException({ options, onAdd }: { options: { value: string; label: string }[]; onAdd(kind: Kind, name: string): void }) {
  const [chosen, setChosen] = useState("")
  if (options.length === 0) return null
  const present = options.find(({ value }) => value === chosen) ?? options[0]
  return (
    <div class="joined">
      <SelectField label="Another exception" value={present?.value ?? ""} onValue={setChosen} options={options} />
      <Button
        onClick={() => {
          const [kind, name] = (present?.value ?? "").split(" ")
          if (name) onAdd(kind as Kind, name)
        }}
      >
        Add
      </Button>
    </div>
  )
}
