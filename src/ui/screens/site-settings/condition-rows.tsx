import type { Dimension } from "../../../domain/dimension.ts"
import { OPERATORS, type Operator } from "../../../domain/filter.ts"
import type { AddressFilter } from "../../../domain/site-address.ts"
import { Button, IconButton } from "../../parts/button.tsx"
import { SelectField, TextField } from "../../parts/fields.tsx"
import { visible } from "../../safe-text.ts"
import { dimensionLabel, operatorText } from "../../words.ts"

/** A condition while it is written: its values as one text. */
export interface DraftCondition {
  dimension: Dimension
  property: string
  operator: Operator
  /** Parted by commas. */
  values: string
}

/** What answers say of a condition; an operator that is left out is `is`. */
export interface KeptCondition {
  dimension: string
  property?: string
  operator?: string
  values: readonly (string | number)[]
}

export const draftsOf = (conditions: readonly KeptCondition[]): DraftCondition[] =>
  conditions.map(({ dimension, property = "", operator = "is", values }) => ({
    dimension: dimension as Dimension, // the server's answer
    property,
    operator: operator as Operator,
    values: values.join(", "),
  }))

/** As the server takes them. */
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

export const conditionsText = (conditions: readonly KeptCondition[]): string =>
  conditions
    .map(({ dimension, property, operator = "is", values }) => {
      const label = dimensionLabel(dimension as Dimension, property) // the server's answer
      return `${label} ${operatorText(operator as Operator)} ${values.map((value) => visible(String(value))).join(" or ")}`
    })
    .join(" and ")

interface ConditionRowsProps {
  label: string
  note: string
  dimensions: readonly Dimension[]
  most: number
  drafts: readonly DraftCondition[]
  onDrafts(drafts: DraftCondition[]): void
  error?: string | undefined
}

/** Conditions that all hold, one below the other. */
export function ConditionRows({ label, note, dimensions, most, drafts, onDrafts, error }: ConditionRowsProps) {
  const change = (index: number, changes: Partial<DraftCondition>) =>
    onDrafts(drafts.map((draft, at) => (at === index ? { ...draft, ...changes } : draft)))
  return (
    <fieldset class="stack">
      <legend>{label}</legend>
      <p class={error ? "field-error" : "field-note"}>{error ?? note}</p>
      {drafts.map((draft, index) => (
        <div class="fields-row" key={index}>
          <SelectField
            label="What"
            value={draft.dimension}
            onValue={(dimension) => change(index, { dimension: dimension as Dimension })}
            options={dimensions.map((dimension) => ({ value: dimension, label: dimensionLabel(dimension) }))}
          />
          {draft.dimension === "property" && (
            <TextField label="Key" value={draft.property} onValue={(property) => change(index, { property })} />
          )}
          <SelectField
            label="How"
            value={draft.operator}
            onValue={(operator) => change(index, { operator: operator as Operator })}
            options={OPERATORS.map((operator) => ({ value: operator, label: operatorText(operator) }))}
          />
          <TextField label="Values" value={draft.values} onValue={(values) => change(index, { values })} note="Several with commas" />
          <IconButton
            icon="trash"
            label={`Remove condition ${index + 1}`}
            onClick={() => onDrafts(drafts.filter((_, at) => at !== index))}
          />
        </div>
      ))}
      {drafts.length < most && (
        <div>
          <Button icon="plus" onClick={() => onDrafts([...drafts, { dimension: "page", property: "", operator: "is", values: "" }])}>
            Add a condition
          </Button>
        </div>
      )}
    </fieldset>
  )
}
