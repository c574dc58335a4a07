import { Choice, SelectField, TextField } from "../../parts/form/fields.tsx"
import type { Sent } from "../../parts/form/form.tsx"
import { MatchValueField } from "../../report/filters/suggestion-fields.tsx"
import { ConditionRows } from "./condition-rows.tsx"
import { type GoalDraft, KIND_WORDS, MATCH_WORDS } from "./goal-rule.ts"

interface GoalFieldsProps {
  /** Whether the goal is new. An existing goal keeps its name if the field is empty. */
  isNew: boolean
  draft: GoalDraft
  onDraft(draft: GoalDraft): void
  errorOf: Sent["errorOf"]
}

/** Renders the fields of a goal's rule and name. */
export function GoalFields({ isNew, draft, onDraft, errorOf }: GoalFieldsProps) {
  const set = (change: Partial<GoalDraft>) => onDraft({ ...draft, ...change })
  const { kind, match, value, name, threshold, props } = draft
  const isEvent = kind === "event"
  return (
    <>
      <fieldset>
        <legend>Goal type</legend>
        <div class="row">
          {(Object.keys(KIND_WORDS) as GoalDraft["kind"][]).map((one) => (
            <Choice key={one} name="kind" label={KIND_WORDS[one]} checked={kind === one} onChange={() => set({ kind: one })} />
          ))}
        </div>
      </fieldset>
      <SelectField
        label={"Match"}
        value={match}
        options={Object.entries(MATCH_WORDS).map(([id, label]) => ({ value: id, label }))}
        onValue={(chosen) => set({ match: chosen as GoalDraft["match"] })}
        error={errorOf("/match")}
      />
      <MatchValueField
        label={isEvent ? "Event name" : "Page path"}
        of={isEvent ? "event" : "page"}
        value={value}
        onValue={(typed) => set({ value: typed })}
        error={errorOf("/value")}
        {...(!isEvent && { note: "Starts with /, e.g. /thanks." })}
      />
      {kind === "scroll" && (
        <TextField
          label="Scroll depth (%)"
          type="number"
          min={1}
          max={100}
          value={threshold}
          onValue={(typed) => set({ threshold: typed })}
          error={errorOf("/threshold")}
        />
      )}
      {kind !== "scroll" && <ConditionRows props={props} onProps={(changed) => set({ props: changed })} error={errorOf("/props")} />}
      <TextField
        label="Name"
        value={name}
        onValue={(typed) => set({ name: typed })}
        error={errorOf("/name")}
        maxLength={120}
        autocomplete="off"
        note={isNew ? "Leave empty to use the event name or page path." : "Leave empty to keep the current name."}
      />
    </>
  )
}
