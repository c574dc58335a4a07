/** Fields of configurations that a schema alone does not describe: references, groups, steps and actions. */
import { Button, Checkbox, IconButton, SelectField, TextField, visible } from "#plugin/ui"
import type { BoardFilter, Config } from "../../board.ts"
import { useSiteQuery } from "../answers.ts"
import { FilterList } from "./filter-list.tsx"

/** Labels that are not the capitalized name. */
const LABELS: Readonly<Record<string, string>> = {
  property: "Property key",
  limit: "Rows",
  bars: "Show bars",
  sparkline: "Show trend",
  chart: "Chart type",
  level: "Areas",
  markdown: "Text (Markdown)",
  grain: "Cohorts by",
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
  start: "Started with",
  return: "Came back with",
}
export const labelOf = (name: string): string => LABELS[name] ?? `${name.charAt(0).toUpperCase()}${name.slice(1)}`.replaceAll("_", " ")
/** Lists of what configurations refer to, by the name of the field. */
const LISTS = {
  goal_id: { path: "goals", one: "All visits", many: false },
  funnel_id: { path: "funnels", one: "Custom steps", many: false },
  goal_ids: { path: "goals", one: "All goals", many: true },
  link_ids: { path: "links", one: "All links", many: true },
  pixel_ids: { path: "pixels", one: "All pixels", many: true },
} as const

export const isReference = (name: string): name is keyof typeof LISTS => name in LISTS

interface Named {
  data: { id: number; name?: string; slug?: string }[]
}

/** Choice among the goals, funnels, links or pixels of a site. */
export function ReferenceField({
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
export function GroupFields({ siteId, value, onValue }: { siteId: number; value: unknown; onValue(groups: Group[]): void }) {
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
export function StepFields({ value, onValue }: { value: unknown; onValue(steps: Step[]): void }) {
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

interface Action {
  type: "any" | "event" | "page" | "goal"
  value?: string
  goal_id?: number
  count?: number
}

const ACTIONS = [
  { value: "any", label: "Any event" },
  { value: "event", label: "Event" },
  { value: "page", label: "Page" },
  { value: "goal", label: "Goal" },
] as const

interface ActionFieldsProps {
  siteId: number
  name: "start" | "return"
  value: unknown
  onValue(action: Action | undefined): void
}

/** What starts a cohort, or what counts as a return: any event, or an event, page or goal. */
export function ActionFields({ siteId, name, value, onValue }: ActionFieldsProps) {
  const label = labelOf(name)
  const action = (value ?? { type: "any" }) as Action // as the schema says
  const { type, count } = action
  const goals = useSiteQuery<Named>(siteId, "goals?limit=200", type === "goal")
  const set = (next: Action) => onValue(next.type === "any" && next.count === undefined ? undefined : next)
  return (
    <fieldset class="plain-fieldset stack">
      <legend>{label}</legend>
      <SelectField
        label="Kind"
        value={type}
        options={ACTIONS}
        onValue={(kind) => set({ type: kind as Action["type"], ...(count !== undefined && { count }) })}
      />
      {(type === "event" || type === "page") && (
        <TextField
          label={type === "event" ? "Event name" : "Page"}
          value={action.value ?? ""}
          placeholder={type === "event" ? "Signup" : "/pricing"}
          onValue={(text) => set({ ...action, value: text })}
        />
      )}
      {type === "goal" && (
        <SelectField
          label="Goal"
          value={String(action.goal_id ?? "")}
          options={[
            { value: "", label: "Choose a goal" },
            ...(goals.data?.data ?? []).map(({ id, name: text }) => ({ value: String(id), label: visible(text ?? String(id)) })),
          ]}
          onValue={(id) => set({ type, ...(count !== undefined && { count }), ...(id !== "" && { goal_id: Number(id) }) })}
        />
      )}
      {name === "return" && (
        <TextField
          label="At least this many times"
          type="number"
          min={1}
          max={10_000}
          value={String(count ?? 1)}
          onValue={(text) => {
            const { count: _, ...rest } = action
            set(Number(text) > 1 ? { ...rest, count: Number(text) } : rest)
          }}
        />
      )}
    </fieldset>
  )
}
