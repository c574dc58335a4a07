import type { Dimension } from "../../../domain/dimension.ts"
import { OPERATORS, type Operator } from "../../../domain/filter.ts"
import type { AddressFilter } from "../../../domain/site-address.ts"
import { visible } from "../../text/safe-text.tsx"
import { dimensionLabel, operatorText } from "../../text/words.ts"
import { valueText } from "./value-text.ts"

/** Returns a filter as a sentence: Page is /pricing or /plans. `names` replaces codes. */
export const filterText = ({ dimension, property, operator, values }: AddressFilter, names?: ReadonlyMap<string, string>): string => {
  const shown = isExact(operator) ? values.map((value) => valueText(dimension, value, names?.get(value))) : values
  return `${dimensionLabel(dimension, property)} ${operatorText(operator)} ${shown.map(visible).join(" or ")}`
}

/** Returns whether the operator compares whole values. Only then can values be picked from a list. */
export const isExact = (operator: Operator): boolean => operator === "is" || operator === "is_not"

/** Returns the operators that a dimension supports. Goals support two. */
export const operatorsOf = (dimension: Dimension): readonly Operator[] => (dimension === "goal" ? ["is", "contains"] : OPERATORS)
