/** Fields and figures that several pages of the area share. */
import { useState } from "preact/hooks"
import { exact, percent, SelectField, TextField, visible } from "#plugin/ui"
import type { CohortResponse, EvaluationResponse } from "../responses.ts"
import { useSiteQuery } from "./answers.ts"
import { peopleText } from "./labels.ts"

const KINDS = [
  { value: "", label: "Any event" },
  { value: "event", label: "Event" },
  { value: "page", label: "Page" },
  { value: "goal", label: "Goal" },
]

interface FieldProps {
  siteId: number
  value: string
  onValue(value: string): void
}

/** Choice of an action: any event, or a kind of event with its name. */
export function ActionField({ siteId, label, value, onValue }: FieldProps & { label: string }) {
  const [type = "", ...rest] = value.split(":")
  const [kind, setKind] = useState(type)
  const goals = useSiteQuery<{ data: { id: number; name: string }[] }>(siteId, "goals?limit=200", kind === "goal")
  return (
    <div class="action-field">
      <SelectField
        label={label}
        value={kind}
        options={KINDS}
        onValue={(next) => {
          setKind(next)
          if (next === "") onValue("")
        }}
      />
      {kind === "goal" ? (
        <SelectField
          label={`${label}: goal`}
          value={rest.join(":")}
          options={[
            { value: "", label: "Choose a goal" },
            ...(goals.data?.data ?? []).map(({ id, name }) => ({ value: String(id), label: visible(name) })),
          ]}
          onValue={(id) => onValue(id === "" ? "" : `goal:${id}`)}
        />
      ) : (
        kind !== "" && (
          <TextField
            label={`${label}: ${kind === "event" ? "event name" : "page"}`}
            value={kind === type ? rest.join(":") : ""}
            placeholder={kind === "event" ? "Signup" : "/pricing"}
            onValue={(text) => onValue(text === "" ? "" : `${kind}:${text}`)}
          />
        )
      )}
    </div>
  )
}

/** Choice of a cohort. Not shown on a site without cohorts. */
export function CohortField({
  siteId,
  value,
  onValue,
  label = "Cohort",
  none = "Everyone",
  without,
}: FieldProps & { label?: string; none?: string; without?: number }) {
  const cohorts = useSiteQuery<{ data: CohortResponse[] }>(siteId, "cohorts?limit=200")
  const known = cohorts.data?.data.filter(({ id, broken }) => !broken && id !== without) ?? []
  if (known.length === 0 && value === "") return null
  return (
    <SelectField
      label={label}
      value={value}
      options={[{ value: "", label: none }, ...known.map(({ id, name }) => ({ value: String(id), label: visible(name) }))]}
      onValue={onValue}
    />
  )
}

export function SegmentField({ siteId, value, onValue }: FieldProps) {
  const segments = useSiteQuery<{ data: { id: number; name: string }[] }>(siteId, "segments?limit=200")
  const known = segments.data?.data ?? []
  if (known.length === 0 && value === "") return null
  return (
    <SelectField
      label="Segment"
      value={value}
      options={[{ value: "", label: "All visits" }, ...known.map(({ id, name }) => ({ value: String(id), label: visible(name) }))]}
      onValue={onValue}
    />
  )
}

/** Size of a cohort in words. */
export const SizeText = ({ of: { size, pending, people_total, share_of_people, suppressed } }: { of: EvaluationResponse }) => (
  <>
    <strong>{size === null ? `Fewer than ${suppressed.below} people, or too few to tell apart` : peopleText(size)}</strong>{" "}
    <span class="quiet">
      {size !== null && people_total !== null && `of ${exact(people_total)} (${percent(share_of_people ?? undefined)})`}
      {pending !== null && pending > 0 && `, ${exact(pending)} not decided yet`}
    </span>
  </>
)
