import { Button, IconButton } from "../../parts/button.tsx"
import { TextField } from "../../parts/fields.tsx"
import { PropertyKeyField } from "../../stats/property-key-field.tsx"
import type { GoalDraft } from "./goal-rule.ts"

const MOST = 3

interface ConditionRowsProps {
  props: GoalDraft["props"]
  onProps(props: GoalDraft["props"]): void
  error?: string | undefined
}

/** Properties that must all have these values. */
export function ConditionRows({ props, onProps, error }: ConditionRowsProps) {
  const set = (index: number, change: Partial<GoalDraft["props"][number]>) =>
    onProps(props.map((one, at) => (at === index ? { ...one, ...change } : one)))
  return (
    <fieldset class="stack">
      <legend>Only with these properties</legend>
      {props.map((one, index) => (
        <div class="condition-row" key={index}>
          <PropertyKeyField value={one.key} onValue={(key) => set(index, { key })} />
          <TextField label="Value" value={one.value} onValue={(value) => set(index, { value })} maxLength={2_000} autocomplete="off" />
          <IconButton icon="trash" label={`Remove condition ${index + 1}`} onClick={() => onProps(props.filter((_, at) => at !== index))} />
        </div>
      ))}
      {error && <p class="field-error">{error}</p>}
      {props.length < MOST && (
        <div>
          <Button icon="plus" onClick={() => onProps([...props, { key: "", value: "" }])}>
            Add a condition
          </Button>
        </div>
      )}
    </fieldset>
  )
}
