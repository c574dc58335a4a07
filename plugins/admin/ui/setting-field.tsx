import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { Button, Choice, SelectField, TextArea, TextField } from "#plugin/ui"
import type { Setting, SettingSchema } from "./answers.ts"
import { sourceText } from "./operator-table.tsx"
import { sentenceCase } from "./parts.tsx"

interface SettingFieldProps {
  setting: Setting
  value: unknown
  onValue(value: unknown): void
  /** Not saved yet. */
  isChanged: boolean
  error: string | undefined
}

/** One setting in the control that its schema asks for, with where its value comes from. */
export function SettingField({ setting, value, onValue, isChanged, error }: SettingFieldProps) {
  const { key, description, source } = setting
  const note = (
    <>
      {description} <span class="source">{isChanged ? `Saved: ${wordFor(setting.value)}.` : <>From: {sourceText(setting)}.</>}</span>
    </>
  )
  const shared = { label: sentenceCase(key), note, error }
  return (
    <div class="setting">
      <Control setting={setting} value={value} onValue={onValue} shared={shared} />
      {source === "db" && !isChanged && (
        <Button kind="quiet" aria-label={`${sentenceCase(key)}: back to the default`} onClick={() => onValue(setting.default)}>
          Back to the default: {wordFor(setting.default)}
        </Button>
      )}
    </div>
  )
}

interface ControlProps extends Pick<SettingFieldProps, "setting" | "value" | "onValue"> {
  shared: { label: string; note: ComponentChildren; error: string | undefined }
}

function Control({ setting: { schema = {} }, value, onValue, shared }: ControlProps) {
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
        <Choice label={shared.label} note={shared.note} checked={value === true} onChange={onValue} />
        {shared.error && <span class="field-error">{shared.error}</span>}
      </>
    )
  if (schema.type === "array") return <Lines {...shared} value={value as string[]} onValue={onValue} />
  return <NumberField schema={schema} value={value as number | null} onValue={onValue} shared={shared} />
}

const choicesOf = ({ anyOf = [] }: SettingSchema): string[] => anyOf.flatMap((one) => one.const ?? [])

/** Empty is for ever, where that may be; else it is sent as it is, for the server to say what it misses. */
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

/** Several texts, one a line. */
function Lines({ value, onValue, ...shared }: ControlProps["shared"] & { value: string[]; onValue(value: string[]): void }) {
  const [text, setText] = useState(value.join("\n"))
  const parsed = linesOf(text)
  return (
    <TextArea
      {...shared}
      // What was typed stays, with its empty lines, as long as it says the same.
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
