/** The form of a widget's configuration, drawn from the schema in the catalogue. */
import { Checkbox, type Dimension, dimensionLabel, metricLabel, SelectField, TextArea, TextField } from "#plugin/ui"
import type { Config } from "../../board.ts"
import { ActionFields, GroupFields, isReference, labelOf, ReferenceField, StepFields } from "./config-parts.tsx"

interface Schema {
  type?: string
  anyOf?: readonly { const?: unknown }[]
  enum?: readonly unknown[]
  items?: Schema
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  minimum?: number
  maximum?: number
  description?: string
}

interface FieldsProps {
  /** Site whose goals, funnels, links and pixels can be chosen. */
  siteId: number
  schema: Schema
  config: Config
  onChange(changes: Config): void
}

const VALUES: Readonly<Record<string, string>> = {
  auto: "Automatic",
  hour: "By hour",
  day: "By day",
  week: "By week",
  month: "By month",
  line: "Line",
  bars: "Bars",
  country: "Countries",
  region: "Regions",
  first_time: "First start",
  recurring: "Every start",
  exact: "In that period",
  unbounded: "In that period or later",
}

const valueLabel = (name: string, value: unknown): string =>
  name.startsWith("metric")
    ? vitalOrMetric(String(value))
    : name === "dimension"
      ? dimensionLabel(String(value) as Dimension)
      : (VALUES[String(value)] ?? String(value))

const VITALS = ["lcp", "inp", "cls", "fcp", "ttfb"]
const vitalOrMetric = (name: string): string => (VITALS.includes(name) ? name.toUpperCase() : metricLabel(name))

/** Returns the values that a schema allows, if it lists them. */
const choicesOf = ({ anyOf, enum: listed }: Schema): readonly unknown[] | undefined =>
  listed ?? (anyOf?.every((one) => one.const !== undefined) ? anyOf.map((one) => one.const) : undefined)

export function ConfigFields({ siteId, schema, config, onChange }: FieldsProps) {
  return (
    <>
      {Object.entries(schema.properties ?? {}).map(([name, field]) => {
        if (name === "property" && config.dimension !== "property") return null
        return (
          <ConfigField
            key={name}
            siteId={siteId}
            name={name}
            schema={field}
            isRequired={schema.required?.includes(name) ?? false}
            config={config}
            onChange={(changes) =>
              onChange(name === "dimension" && changes.dimension !== "property" ? { ...changes, property: undefined } : changes)
            }
          />
        )
      })}
    </>
  )
}

interface FieldProps extends FieldsProps {
  name: string
  isRequired: boolean
}

function ConfigField({ siteId, name, schema, isRequired, config, onChange }: FieldProps) {
  const value = config[name]
  const label = name === "chart" && schema.type === "boolean" ? "Show a chart" : labelOf(name)
  const set = (next: unknown) => onChange({ [name]: next })
  const note = schema.description
  if (isReference(name)) return <ReferenceField siteId={siteId} name={name} config={config} onChange={onChange} />
  if (name === "rows") return <GroupFields siteId={siteId} value={value} onValue={set} />
  if (name === "start" || name === "return") return <ActionFields siteId={siteId} name={name} value={value} onValue={set} />
  if (name === "steps") return config.funnel_id === undefined ? <StepFields value={value} onValue={set} /> : null
  const choices = choicesOf(schema)
  if (choices)
    return (
      <SelectField
        label={label}
        value={value === undefined ? "" : String(value)}
        options={[
          ...(isRequired ? [] : [{ value: "", label: "Default" }]),
          ...choices.map((choice) => ({ value: String(choice), label: valueLabel(name, choice) })),
        ]}
        onValue={(text) => set(text === "" ? undefined : choices.find((choice) => String(choice) === text))}
      />
    )
  const many = schema.items && choicesOf(schema.items)
  if (many) {
    const chosen = Array.isArray(value) ? value : []
    return (
      <fieldset class="plain-fieldset stack">
        <legend>{label}</legend>
        <div class="choice-list">
          {many.map((choice) => (
            <Checkbox
              key={String(choice)}
              label={valueLabel(name, choice)}
              checked={chosen.includes(choice)}
              onChange={(checked) => {
                const next = checked ? [...chosen, choice] : chosen.filter((one) => one !== choice)
                set(next.length === 0 ? undefined : next)
              }}
            />
          ))}
        </div>
      </fieldset>
    )
  }
  if (schema.type === "boolean")
    return <Checkbox label={label} checked={value !== false} onChange={(checked) => set(checked ? undefined : false)} />
  if (schema.type === "integer") {
    if (schema.minimum !== undefined && schema.minimum === schema.maximum) return null
    return (
      <TextField
        label={label}
        type="number"
        value={value === undefined ? "" : String(value)}
        {...(schema.minimum !== undefined && { min: schema.minimum })}
        {...(schema.maximum !== undefined && { max: schema.maximum })}
        {...(note && { note })}
        onValue={(text) => set(text === "" ? undefined : Number(text))}
      />
    )
  }
  if (name === "markdown")
    return (
      <TextArea
        label={label}
        rows={10}
        value={String(value ?? "")}
        onValue={set}
        note="Headings, lists, links and tables. No HTML and no images."
      />
    )
  if (schema.type === "string")
    return <TextField label={label} value={String(value ?? "")} onValue={(text) => set(text === "" ? undefined : text)} />
  return null // an object of a type that came later, which keeps its value
}
