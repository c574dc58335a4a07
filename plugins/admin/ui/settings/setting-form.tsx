import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import {
  Button,
  Checkbox,
  type Column,
  DataTable,
  Form,
  patch,
  SelectField,
  TextArea,
  TextField,
  toast,
  useUnsaved,
  visible,
} from "#plugin/ui"
import type { SettingResponse, SettingsResponse } from "../../operation-responses.ts"
import { sentenceCase } from "../parts.tsx"
import { ADMIN, useRefresh } from "../queries.ts"

/** Form for one group of settings, saved together. If another admin has saved meanwhile, the save fails and the new values are shown next to the input. */
export function SettingForm({ settings, version }: { settings: readonly SettingResponse[]; version: number }) {
  const [changes, setChanges] = useState<Readonly<Record<string, unknown>>>({})
  const refresh = useRefresh()
  const isDirty = Object.keys(changes).length > 0
  useUnsaved(isDirty)
  const change = ({ key, value: stored }: SettingResponse, value: unknown) => {
    const { [key]: _, ...others } = changes
    setChanges(JSON.stringify(value) === JSON.stringify(stored) ? others : { ...others, [key]: value })
  }
  return (
    <Form
      submit={async () => {
        try {
          await patch<SettingsResponse>(`${ADMIN}/settings`, { changes: changesToSend(settings, changes), version })
        } finally {
          await refresh("settings")
        }
        setChanges({})
        toast("Settings saved")
      }}
    >
      {({ busy, errorOf }) => (
        <>
          {settings.map((setting) => (
            <SettingField
              key={setting.key}
              setting={setting}
              value={setting.key in changes ? changes[setting.key] : setting.value}
              onValue={(value) => change(setting, value)}
              isChanged={setting.key in changes}
              error={errorOf(`/changes/${setting.key}`)}
            />
          ))}
          <div class="row">
            <Button kind="primary" type="submit" busy={busy} disabled={!isDirty}>
              Save changes
            </Button>
            {isDirty && <Button onClick={() => setChanges({})}>Discard changes</Button>}
          </div>
        </>
      )}
    </Form>
  )
}

/** Returns the changes to send. A value that equals the default is sent as null, so that the setting follows the default. */
const changesToSend = (settings: readonly SettingResponse[], changes: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(changes).map(([key, value]) => {
      const fallback = settings.find((setting) => setting.key === key)?.default
      return [key, JSON.stringify(value) === JSON.stringify(fallback) ? null : value]
    }),
  )

interface SettingFieldProps {
  setting: SettingResponse
  value: unknown
  onValue(value: unknown): void
  /** Whether the value is not saved yet. */
  isChanged: boolean
  error: string | undefined
}

/** JSON Schema of a setting, limited to the forms that settings use. */
interface SettingSchema {
  type?: "string" | "boolean" | "integer" | "array" | "null"
  const?: string
  anyOf?: SettingSchema[]
  minimum?: number
  maximum?: number
}

/** A setting in the control that fits its schema, with the source of its value. */
export function SettingField({ setting, value, onValue, isChanged, error }: SettingFieldProps) {
  const { key, description, source } = setting
  const note = (
    <>
      {withCode(description)}{" "}
      <span class="source">{isChanged ? `Saved value: ${wordFor(setting.value)}.` : <>Source: {sourceText(setting)}.</>}</span>
    </>
  )
  const shared = { label: sentenceCase(key), note, error }
  return (
    <div class="setting">
      <Control setting={setting} value={value} onValue={onValue} shared={shared} />
      {source === "db" && !isChanged && (
        <Button kind="quiet" aria-label={`${sentenceCase(key)}: reset to default`} onClick={() => onValue(setting.default)}>
          Reset to default: {wordFor(setting.default)}
        </Button>
      )}
    </div>
  )
}

interface ControlProps extends Pick<SettingFieldProps, "setting" | "value" | "onValue"> {
  shared: { label: string; note: ComponentChildren; error: string | undefined }
}

function Control({ setting, value, onValue, shared }: ControlProps) {
  const schema = (setting.schema ?? {}) as SettingSchema // the server describes settings in these forms only
  const choices = choicesOf(schema)
  if (choices.length > 0)
    return (
      <SelectField
        {...shared}
        value={String(value)}
        options={choices.map((choice) => ({ value: choice, label: sentenceCase(choice) }))}
        onValue={onValue}
      />
    )
  if (schema.type === "boolean")
    return (
      <>
        <Checkbox label={shared.label} note={shared.note} checked={value === true} onChange={onValue} />
        {shared.error && <span class="field-error">{shared.error}</span>}
      </>
    )
  if (schema.type === "array") return <Lines {...shared} value={value as string[]} onValue={onValue} />
  return <NumberField schema={schema} value={value as number | null} onValue={onValue} shared={shared} />
}

const choicesOf = ({ anyOf = [] }: SettingSchema): string[] => anyOf.flatMap((one) => one.const ?? [])

/** A number; empty is sent as null, which means no limit or forever where the schema allows it. Elsewhere the server reports the missing value. */
function NumberField({
  schema,
  value,
  onValue,
  shared,
}: { schema: SettingSchema; value: number | null } & Omit<ControlProps, "setting" | "value">) {
  const bounds = schema.anyOf?.find(({ type }) => type === "integer") ?? schema
  return (
    <TextField
      {...shared}
      type="number"
      {...(bounds.minimum !== undefined && { min: bounds.minimum })}
      {...(bounds.maximum !== undefined && { max: bounds.maximum })}
      value={value === null ? "" : String(value)}
      onValue={(text) => onValue(text === "" ? null : Number(text))}
    />
  )
}

/** A list of texts, one per line. */
function Lines({ value, onValue, ...shared }: ControlProps["shared"] & { value: string[]; onValue(value: string[]): void }) {
  const [text, setText] = useState(value.join("\n"))
  const parsed = linesOf(text)
  return (
    <TextArea
      {...shared}
      // Keeps the typed text with its empty lines as long as it means the same list.
      value={JSON.stringify(parsed) === JSON.stringify(value) ? text : value.join("\n")}
      onValue={(typed) => {
        setText(typed)
        onValue(linesOf(typed))
      }}
    />
  )
}

const linesOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")

function wordFor(value: unknown): string {
  if (value === null) return "none"
  if (typeof value === "boolean") return value ? "on" : "off"
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.join(", ")
  return typeof value === "string" ? sentenceCase(value) : String(value)
}

/** Settings that can only be changed outside of the console, each with its source. */
export const OperatorTable = ({ settings }: { settings: readonly SettingResponse[] }) => (
  <div class="stack">
    <p class="quiet">Set these in the environment or the configuration file. Changes take effect after a restart.</p>
    <DataTable caption="Settings of the operator" columns={OPERATOR_COLUMNS} rows={settings} keyOf={({ key }) => key} />
  </div>
)

const OPERATOR_COLUMNS: Column<SettingResponse>[] = [
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
  { id: "source", label: "Source", cell: sourceText },
]

/** Renders text between backticks as code. */
const withCode = (text: string) => text.split("`").map((part, index) => (index % 2 === 0 ? part : <code key={part}>{part}</code>))

function shownValue({ value, secret }: SettingResponse): string {
  if (secret) return secret.set ? "set" : "not set"
  return value === null ? "not set" : visible(typeof value === "string" ? value : JSON.stringify(value))
}

/** Describes where a value comes from and where it can be changed. */
export function sourceText({ source, key, editable }: SettingResponse) {
  const name = <code>FOOTFALL_{key.toUpperCase()}</code>
  if (source === "env") return <>environment or command line: {name}</>
  if (source === "file")
    return (
      <>
        configuration file: <code>{key}</code>
      </>
    )
  if (source === "db") return "changed here"
  return editable ? "default" : <>default; change it with {name}</>
}
