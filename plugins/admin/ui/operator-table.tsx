import { type Column, DataTable, visible } from "#plugin/ui"
import type { Setting } from "./answers.ts"
import { sentenceCase } from "./parts.tsx"

/** Settings that are made elsewhere, each with where. */
export const OperatorTable = ({ settings }: { settings: readonly Setting[] }) => (
  <div class="stack">
    <p class="quiet">These are made in the environment or in the configuration file, and take effect with a start.</p>
    <DataTable caption="Settings made elsewhere" columns={COLUMNS} rows={settings} keyOf={({ key }) => key} />
  </div>
)

const COLUMNS: Column<Setting>[] = [
  {
    id: "key",
    label: "Setting",
    cell: ({ key, description }) => (
      <>
        {sentenceCase(key)}
        <br />
        <span class="small quiet">{withCode(description)}</span>
      </>
    ),
  },
  { id: "value", label: "Value", cell: (setting) => <code>{shownValue(setting)}</code> },
  { id: "source", label: "From", cell: sourceText },
]

/** What stands between backticks is code. */
const withCode = (text: string) => text.split("`").map((part, index) => (index % 2 === 0 ? part : <code key={part}>{part}</code>))

function shownValue({ value, secret }: Setting): string {
  if (secret) return secret.set ? "set" : "not set"
  return value === null ? "not set" : visible(typeof value === "string" ? value : JSON.stringify(value))
}

/** Where a value comes from, and where it can be changed. */
export function sourceText({ source, key, editable }: Setting) {
  const name = <code>FOOTFALL_{key.toUpperCase()}</code>
  if (source === "env") return <>environment or command line: {name}</>
  if (source === "file")
    return (
      <>
        configuration file: <code>{key}</code>
      </>
    )
  if (source === "db") return "changed here"
  return editable ? "default" : <>default; {name} changes it</>
}
