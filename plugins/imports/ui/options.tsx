import { Checkbox, Field, SelectField, TextField } from "#plugin/ui"
import type { OptionSchema, OptionsSchema } from "../responses.ts"
import { wordsOf } from "./answers.ts"

export type Options = Readonly<Record<string, unknown>>

interface OptionFieldsProps {
  options: Options
  /** Changes options; undefined restores the default. */
  set(changes: Options): void
}

/** Options of all sources with controls of their own, and those that the preview asks for elsewhere. */
const ELSEWHERE = new Set([
  ...["overlap", "from", "to", "source_timezone", "encoding", "delimiter", "hostnames", "tables", "create_goals", "accept_rejects"],
  ...["mapping", "website_id"],
])

/** Returns the options of a source that have a control here. */
export const sourceOptions = ({ properties }: OptionsSchema): [name: string, schema: OptionSchema][] =>
  Object.entries(properties).filter(([name, schema]) => !ELSEWHERE.has(name) && controlOf(schema) !== undefined)

const choicesOf = ({ enum: values, anyOf }: OptionSchema): string[] =>
  [...(values ?? anyOf?.map(({ const: value }) => value) ?? [])].filter((value) => typeof value === "string")

function controlOf(schema: OptionSchema): "choice" | "text" | "number" | "boolean" | undefined {
  if (choicesOf(schema).length > 0) return "choice"
  if (schema.type === "string") return "text"
  if (schema.type === "integer" || schema.type === "number") return "number"
  return schema.type === "boolean" ? "boolean" : undefined
}

/** Leaves out the dimension of totals unless rows are totals of one. */
const shownOptions = (schema: OptionsSchema, kind: unknown) =>
  sourceOptions(schema).filter(([name]) => name !== "dimension" || kind === "daily_dimension")

/** Controls for the options that only a source has, made from their schema. */
export const SourceOptions = ({ schema, options, set, kind }: OptionFieldsProps & { schema: OptionsSchema; kind: unknown }) => (
  <div class="option-grid">
    {shownOptions(schema, kind).map(([name, option]) => (
      <OptionField key={name} name={name} option={option} value={options[name]} onValue={(value) => set({ [name]: value })} />
    ))}
  </div>
)

interface OptionFieldProps {
  name: string
  option: OptionSchema
  value: unknown
  onValue(value: unknown): void
}

function OptionField({ name, option, value, onValue }: OptionFieldProps) {
  const label = option.title ?? wordsOf(name)
  const shared = { label, ...(option.description && { note: option.description.replaceAll("`", "") }) }
  const shown = value ?? option.default
  const text = typeof shown === "string" || typeof shown === "number" ? String(shown) : ""
  const control = controlOf(option)
  if (control === "boolean") return <Checkbox {...shared} checked={shown === true} onChange={onValue} />
  if (control === "choice") {
    const none = option.default === undefined ? [{ value: "", label: "Automatic" }] : []
    const choices = choicesOf(option).map((choice) => ({ value: choice, label: wordsOf(choice) }))
    return <SelectField {...shared} value={text} options={[...none, ...choices]} onValue={(next) => onValue(next || undefined)} />
  }
  if (control === "number")
    return <TextField {...shared} type="number" value={text} onValue={(next) => onValue(next === "" ? undefined : Number(next))} />
  return <TextField {...shared} value={text} onValue={(next) => onValue(next === "" ? undefined : next)} />
}

const ENCODINGS = [
  { value: "", label: "Automatic" },
  { value: "utf-8", label: "UTF-8" },
  { value: "utf-16", label: "UTF-16" },
  { value: "latin1", label: "Latin-1" },
]
const DELIMITERS = [
  { value: "", label: "Automatic" },
  { value: ",", label: "Comma" },
  { value: ";", label: "Semicolon" },
  { value: "\t", label: "Tab" },
  { value: "|", label: "Vertical bar" },
]

/** Options of all sources that few imports need. */
export function CommonOptions({ options, set }: OptionFieldsProps) {
  const text = (name: string) => (typeof options[name] === "string" ? options[name] : "")
  const change = (name: string) => (value: string) => set({ [name]: value === "" ? undefined : value })
  return (
    <div class="option-grid">
      <TextField type="date" label="First day" note="Default: the first day of the files." value={text("from")} onValue={change("from")} />
      <TextField type="date" label="Last day" note="Default: the last day of the files." value={text("to")} onValue={change("to")} />
      <ZoneField value={text("source_timezone")} onValue={change("source_timezone")} />
      <TextField
        label="Hosts"
        note="Imports only these hosts, separated by commas. Default: all."
        value={Array.isArray(options.hostnames) ? options.hostnames.join(", ") : ""}
        onValue={(value) => {
          const hosts = value.split(",").map((host) => host.trim())
          set({ hostnames: hosts.some((host) => host !== "") ? hosts.filter((host, index) => host !== "" || index > 0) : undefined })
        }}
      />
      <SelectField label="Encoding" value={text("encoding")} options={ENCODINGS} onValue={change("encoding")} />
      <SelectField label="Delimiter" value={text("delimiter")} options={DELIMITERS} onValue={change("delimiter")} />
    </div>
  )
}

const ZONES = Intl.supportedValuesOf("timeZone")

export const ZoneField = ({ value, onValue }: { value: string; onValue(value: string): void }) => (
  <Field label="Time zone of the files" note="For times without a time zone. Default: that of the format.">
    {(described) => (
      <select class="input" {...described} onChange={(event) => onValue(event.currentTarget.value)}>
        <option value="" selected={value === ""}>
          Default
        </option>
        {ZONES.map((zone) => (
          <option key={zone} value={zone} selected={zone === value}>
            {zone}
          </option>
        ))}
      </select>
    )}
  </Field>
)
