import { Button, IconButton } from "../../parts/button.tsx"
import { TextField } from "../../parts/form/fields.tsx"
import { PropertyKeyField } from "../../report/filters/suggestion-fields.tsx"
import type { GoalDraft } from "./goal-rule.ts"

const MAX_CONDITIONS = 3

interface ConditionRowsProps {
  props: GoalDraft["props"]
  onProps(props: GoalDraft["props"]): void
  error?: string | undefined
}

/** Renders the properties that must all have the given values. */
export function ConditionRows({ props, onProps, error }: ConditionRowsProps) {
  const set = (index: number, change: Partial<GoalDraft["props"][number]>) =>
    onProps(props.map((one, at) => (at === index ? { ...one, ...change } : one)))
  return (
    <fieldset class="stack">
      <legend>Only if properties match</legend>
      {props.map((one, index) => (
        <div class="condition-row" key={index}>
          <PropertyKeyField value={one.key} onValue={(key) => set(index, { key })} />
          <TextField label="Value" value={one.value} onValue={(value) => set(index, { value })} maxLength={2_000} autocomplete="off" />
          <IconButton icon="trash" label={`Remove condition ${index + 1}`} onClick={() => onProps(props.filter((_, at) => at !== index))} />
        </div>
      ))}
      {error && <p class="field-error">{error}</p>}
      {props.length < MAX_CONDITIONS && (
        <div>
          <Button icon="plus" onClick={() => onProps([...props, { key: "", value: "" }])}>
            Add condition
          </Button>
        </div>
      )}
    </fieldset>
  )
}
