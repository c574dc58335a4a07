import type { Dimension } from "../../domain/dimension.ts"
import { OPERATORS, type Operator } from "../../domain/filter.ts"
import type { AddressFilter } from "../../domain/site-address.ts"
import { visible } from "../safe-text.ts"
import { dimensionLabel, operatorText } from "../words.ts"
import { valueText } from "./value-text.ts"

/** A filter as a sentence: Page is /pricing or /plans. Of codes with the names that are known. */
export const filterText = ({ dimension, property, operator, values }: AddressFilter, names?: ReadonlyMap<string, string>): string => {
  const shown = isExact(operator) ? values.map((value) => valueText(dimension, value, names?.get(value))) : values
  return `${dimensionLabel(dimension, property)} ${operatorText(operator)} ${shown.map(visible).join(" or ")}`
}

/** Whether values are compared whole: only then they can be chosen from those that occurred. */
export const isExact = (operator: Operator): boolean => operator === "is" || operator === "is_not"

/** Operators that a dimension answers; goals know two. */
export const operatorsOf = (dimension: Dimension): readonly Operator[] => (dimension === "goal" ? ["is", "contains"] : OPERATORS)
