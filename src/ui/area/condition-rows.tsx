import type { Dimension } from "../../domain/dimension.ts"
import { OPERATORS, type Operator } from "../../domain/filter.ts"
import type { SavedFilter } from "../../domain/segment.ts"
import type { AddressFilter } from "../../domain/site-address.ts"
import { Button, IconButton } from "../parts/button.tsx"
import { SelectField, TextField } from "../parts/form/fields.tsx"
import { dimensionLabel, operatorText } from "../text/labels.ts"
import { visible } from "../text/safe-text.tsx"

/** Condition as entered in the form, with its values as one text. */
export interface DraftCondition {
  dimension: Dimension
  property: string
  operator: Operator
  /** Separated by commas. */
  values: string
}

export const draftsOf = (conditions: readonly SavedFilter[]): DraftCondition[] =>
  conditions.map(({ dimension, property = "", operator = "is", values }) => ({
    dimension: dimension as Dimension, // from the server's response
    property,
    operator: operator as Operator,
    values: values.join(", "),
  }))

/** Converts the entries to the filters that the server expects. */
export const conditionsOf = (drafts: readonly DraftCondition[]): AddressFilter[] =>
  drafts.map(({ dimension, property, operator, values }) => ({
    dimension,
    ...(dimension === "property" && { property }),
    operator,
    values: values
      .split(",")
      .map((value) => value.trim())
      .filter((value) => value !== ""),
  }))

export const conditionsText = (conditions: readonly SavedFilter[]): string =>
  conditions
    .map(({ dimension, property, operator = "is", values }) => {
      const label = dimensionLabel(dimension as Dimension, property) // from the server's response
      return `${label} ${operatorText(operator as Operator)} ${values.map((value) => visible(String(value))).join(" or ")}`
    })
    .join(" and ")

interface ConditionRowsProps {
  label: string
  note: string
  dimensions: readonly Dimension[]
  maximum: number
  drafts: readonly DraftCondition[]
  onDrafts(drafts: DraftCondition[]): void
  error?: string | undefined
}

/** Renders conditions that must all match, one below the other. */
export function ConditionRows({ label, note, dimensions, maximum, drafts, onDrafts, error }: ConditionRowsProps) {
  const change = (index: number, changes: Partial<DraftCondition>) =>
    onDrafts(drafts.map((draft, at) => (at === index ? { ...draft, ...changes } : draft)))
  return (
    <fieldset class="stack">
      <legend>{label}</legend>
      <p class={error ? "field-error" : "field-note"}>{error ?? note}</p>
      {drafts.map((draft, index) => (
        <div class="fields-row" key={index}>
          <SelectField
            label="Filter by"
            value={draft.dimension}
            onValue={(dimension) => change(index, { dimension: dimension as Dimension })}
            options={dimensions.map((dimension) => ({ value: dimension, label: dimensionLabel(dimension) }))}
          />
          {draft.dimension === "property" && (
            <TextField label="Key" value={draft.property} onValue={(property) => change(index, { property })} />
          )}
          <SelectField
            label="Condition"
            value={draft.operator}
            onValue={(operator) => change(index, { operator: operator as Operator })}
            options={OPERATORS.map((operator) => ({ value: operator, label: operatorText(operator) }))}
          />
          <TextField
            label="Value"
            value={draft.values}
            onValue={(values) => change(index, { values })}
            note="Separate values with commas."
          />
          <IconButton
            icon="trash"
            label={`Remove condition ${index + 1}`}
            onClick={() => onDrafts(drafts.filter((_, at) => at !== index))}
          />
        </div>
      ))}
      {drafts.length < maximum && (
        <div>
          <Button icon="plus" onClick={() => onDrafts([...drafts, { dimension: "page", property: "", operator: "is", values: "" }])}>
            Add condition
          </Button>
        </div>
      )}
    </fieldset>
  )
}
