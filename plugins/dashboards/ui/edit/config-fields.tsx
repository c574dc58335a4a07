/** The form of a widget's configuration, drawn from the schema in the catalogue. */
import {
  Button,
  Checkbox,
  type Dimension,
  dimensionLabel,
  IconButton,
  metricLabel,
  SelectField,
  TextArea,
  TextField,
  visible,
} from "#plugin/ui"
import type { BoardFilter, Config } from "../../board.ts"
import { useSiteQuery } from "../answers.ts"
import { FilterList } from "./filter-list.tsx"

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

const LABELS: Readonly<Record<string, string>> = {
  metric: "Metric",
  metrics: "Metrics",
  dimension: "Dimension",
  property: "Property key",
  limit: "Rows",
  bars: "Show bars",
  sparkline: "Show the course",
  interval: "Interval",
  chart: "Form",
  level: "Areas",
  minutes: "Minutes",
  markdown: "Text (Markdown)",
  grain: "Cohorts by",
  periods: "Periods",
  mode: "Place people by",
  counting: "Counted as returned",
  window: "Days",
  goal_id: "Goal",
  funnel_id: "Funnel",
  goal_ids: "Goals",
  link_ids: "Links",
  pixel_ids: "Pixels",
  rows: "Groups",
  steps: "Steps",
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
  first: "First start",
  recurring: "Every start",
  exact: "In that period",
  unbounded: "In that period or later",
}

const labelOf = (name: string): string => LABELS[name] ?? `${name.charAt(0).toUpperCase()}${name.slice(1)}`.replaceAll("_", " ")
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
  const label = labelOf(name)
  const set = (next: unknown) => onChange({ [name]: next })
  const note = schema.description
  if (name in LISTS) return <ReferenceField siteId={siteId} name={name as keyof typeof LISTS} config={config} onChange={onChange} />
  if (name === "rows") return <GroupFields siteId={siteId} value={value} onValue={set} />
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
  return null // such as the start of a cohort, which keeps its value
}

/** Lists of what configurations refer to, by the name of the field. */
const LISTS = {
  goal_id: { path: "goals", one: "All visits", many: false },
  funnel_id: { path: "funnels", one: "Steps of its own", many: false },
  goal_ids: { path: "goals", one: "All goals", many: true },
  link_ids: { path: "links", one: "All links", many: true },
  pixel_ids: { path: "pixels", one: "All pixels", many: true },
} as const

interface Named {
  data: { id: number; name?: string; slug?: string }[]
}

/** Choice among the goals, funnels, links or pixels of a site. */
function ReferenceField({
  siteId,
  name,
  config,
  onChange,
}: {
  siteId: number
  name: keyof typeof LISTS
  config: Config
  onChange(changes: Config): void
}) {
  const { path, one, many } = LISTS[name]
  const { data } = useSiteQuery<Named>(siteId, `${path}?limit=200`)
  const rows = (data?.data ?? []).map(({ id, name: text, slug }) => ({ id, label: visible(text ?? slug ?? String(id)) }))
  const value = config[name]
  if (many) {
    const chosen: unknown[] = Array.isArray(value) ? value : []
    if (rows.length === 0) return null
    return (
      <fieldset class="plain-fieldset stack">
        <legend>
          {labelOf(name)} <span class="small quiet">{chosen.length === 0 && one}</span>
        </legend>
        <div class="choice-list">
          {rows.map(({ id, label }) => (
            <Checkbox
              key={id}
              label={label}
              checked={chosen.includes(id)}
              onChange={(checked) => {
                const next = checked ? [...chosen, id] : chosen.filter((known) => known !== id)
                onChange({ [name]: next.length === 0 ? undefined : next })
              }}
            />
          ))}
        </div>
      </fieldset>
    )
  }
  const isGone = value !== undefined && data !== undefined && !rows.some(({ id }) => id === value)
  return (
    <SelectField
      label={labelOf(name)}
      value={isGone || value === undefined ? "" : String(value)}
      options={[
        { value: "", label: isGone ? "Choose a replacement" : one },
        ...rows.map(({ id, label }) => ({ value: String(id), label })),
      ]}
      {...(isGone && { error: `The ${labelOf(name).toLowerCase()} was deleted.` })}
      onValue={(text) =>
        onChange({
          [name]: text === "" ? undefined : Number(text),
          ...(name === "funnel_id" && { steps: text === "" ? FIRST_STEPS : undefined }),
        })
      }
    />
  )
}

interface Group {
  label: string
  filters: BoardFilter[]
}
const MAX_GROUPS = 6

/** The groups of a comparison: a label and filters each. */
function GroupFields({ siteId, value, onValue }: { siteId: number; value: unknown; onValue(groups: Group[]): void }) {
  const groups = (Array.isArray(value) ? value : []) as Group[] // as the schema says
  const set = (index: number, changes: Partial<Group>) => onValue(groups.with(index, { ...groups[index]!, ...changes }))
  return (
    <fieldset class="plain-fieldset stack">
      <legend>Groups</legend>
      {groups.map((group, index) => (
        <div key={index} class="stack">
          <div class="row">
            <TextField
              label={`Label of group ${index + 1}`}
              value={group.label}
              onValue={(label) => set(index, { label })}
              maxLength={100}
            />
            {groups.length > 2 && (
              <IconButton icon="trash" label={`Remove group ${index + 1}`} onClick={() => onValue(groups.toSpliced(index, 1))} />
            )}
          </div>
          <FilterList siteId={siteId} filters={group.filters} onFilters={(filters) => set(index, { filters })} />
        </div>
      ))}
      {groups.length < MAX_GROUPS && (
        <div>
          <Button icon="plus" onClick={() => onValue([...groups, { label: `Group ${groups.length + 1}`, filters: [] }])}>
            Add group
          </Button>
        </div>
      )}
    </fieldset>
  )
}

interface Step {
  type: "page" | "event"
  value: string
}
const FIRST_STEPS: Step[] = [
  { type: "page", value: "/" },
  { type: "page", value: "/pricing" },
]
const MAX_STEPS = 10

/** The steps of a funnel that is not a saved one. */
function StepFields({ value, onValue }: { value: unknown; onValue(steps: Step[]): void }) {
  const steps = (Array.isArray(value) ? value : FIRST_STEPS) as Step[] // as the schema says
  const set = (index: number, changes: Partial<Step>) => onValue(steps.with(index, { ...steps[index]!, ...changes }))
  return (
    <fieldset class="plain-fieldset stack">
      <legend>Steps</legend>
      {steps.map((step, index) => (
        <div key={index} class="step-fields">
          <SelectField
            label={`Step ${index + 1}`}
            value={step.type}
            options={[
              { value: "page", label: "Page" },
              { value: "event", label: "Event" },
            ]}
            onValue={(type) => set(index, { type: type as Step["type"] })}
          />
          <TextField
            label={step.type === "page" ? `Page of step ${index + 1}` : `Event of step ${index + 1}`}
            value={step.value}
            onValue={(text) => set(index, { value: text })}
          />
          {steps.length > 2 && (
            <IconButton icon="trash" label={`Remove step ${index + 1}`} onClick={() => onValue(steps.toSpliced(index, 1))} />
          )}
        </div>
      ))}
      {steps.length < MAX_STEPS && (
        <div>
          <Button icon="plus" onClick={() => onValue([...steps, { type: "page", value: "" }])}>
            Add step
          </Button>
        </div>
      )}
    </fieldset>
  )
}
