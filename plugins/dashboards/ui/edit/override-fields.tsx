import { COMPARISON_LABELS, PERIOD_LABELS, SelectField, useMe, visible } from "#plugin/ui"
import type { BoardFilter, BoardRange, Config } from "../../board.ts"
import { useSiteQuery } from "../answers.ts"
import { FilterList } from "./filter-list.tsx"

interface OverrideFieldsProps {
  siteId: number
  config: Config
  onChange(changes: Config): void
}

interface Named {
  data: { id: number; name: string }[]
}

/** Fields that every widget has: a period, a comparison, filters, a segment and a cohort of its own. */
export function OverrideFields({ siteId, config, onChange }: OverrideFieldsProps) {
  const { range, compare, filters = [] } = config as { range?: BoardRange; compare?: string; filters?: BoardFilter[] } // checked by the server
  return (
    <div class="stack">
      <SelectField
        label="Period"
        value={range?.period ?? ""}
        options={[{ value: "", label: "Period of the dashboard" }, ...PERIOD_LABELS.map(({ period, label }) => ({ value: period, label }))]}
        onValue={(period) => onChange({ range: period === "" ? undefined : { period } })}
      />
      <SelectField
        label="Compare with"
        value={typeof compare === "string" ? compare : ""}
        options={[
          { value: "", label: "Comparison of the dashboard" },
          ...COMPARISON_LABELS.map(({ compare: value, label }) => ({ value, label })),
        ]}
        onValue={(value) => onChange({ compare: value === "" ? undefined : value })}
      />
      <ThingField
        siteId={siteId}
        label="Segment"
        path="segments"
        none="All visits"
        value={config.segment_id}
        onValue={(id) => onChange({ segment_id: id })}
      />
      <ThingField
        siteId={siteId}
        label="Cohort"
        path="cohorts"
        none="Everyone"
        value={config.cohort_id}
        onValue={(id) => onChange({ cohort_id: id })}
      />
      <fieldset class="plain-fieldset stack">
        <legend>Filters</legend>
        <FilterList siteId={siteId} filters={filters} onFilters={(next) => onChange({ filters: next.length === 0 ? undefined : next })} />
      </fieldset>
    </div>
  )
}

interface ThingFieldProps {
  siteId: number
  label: string
  path: "segments" | "cohorts"
  none: string
  value: unknown
  onValue(id: number | undefined): void
}

/** Choice of a segment or cohort. Absent on a site that has none, or while the plugin is off. */
function ThingField({ siteId, label, path, none, value, onValue }: ThingFieldProps) {
  const features = useMe()?.features ?? []
  const isOn = path === "segments" || features.includes(path)
  const rows = useSiteQuery<Named>(siteId, `${path}?limit=200`, isOn).data?.data ?? []
  if (rows.length === 0) return null
  return (
    <SelectField
      label={label}
      value={value === undefined ? "" : String(value)}
      options={[{ value: "", label: none }, ...rows.map(({ id, name }) => ({ value: String(id), label: visible(name) }))]}
      onValue={(id) => onValue(id === "" ? undefined : Number(id))}
    />
  )
}
