import { textTest } from "../domain/condition.ts"
import type { Condition } from "../domain/filter.ts"
import type { GoalRule } from "../domain/query.ts"
import type { Dictionary } from "../store/events/part.ts"
import { countryNameOrCode } from "./country-names.ts"

/** One byte per number of a dictionary: 1 where the value passes. Text is compared here once, never per row. */
export type ValueMask = Uint8Array

export type TextTest = Pick<Condition, "op" | "values" | "caseSensitive" | "missing" | "named">

/** Number 0 is the missing value and passes only when the condition names it; blanked values never pass. */
export function valueMask(dictionary: Dictionary, condition: TextTest): ValueMask {
  const mask = new Uint8Array(Math.max(1, dictionary.size))
  const passes = textTest(condition)
  if (condition.named) markMatching(dictionary, (code) => passes(countryNameOrCode(code)), mask)
  else if (condition.op === "is" && condition.caseSensitive) markExact(dictionary, condition.values, mask)
  else markMatching(dictionary, passes, mask)
  mask[0] = condition.missing ? 1 : 0
  return mask
}

/** The same for the value of a goal or funnel step, compared with case. */
export function ruleMask(dictionary: Dictionary, { match, value }: Pick<GoalRule, "match" | "value">): ValueMask {
  return valueMask(dictionary, { op: RULE_OPERATORS[match], values: [value], caseSensitive: true, missing: false })
}

const RULE_OPERATORS = { exact: "is", prefix: "starts_with", contains: "contains", wildcard: "matches_wildcard" } as const

function markExact(dictionary: Dictionary, values: readonly string[], mask: ValueMask): void {
  for (const value of values) {
    const id = value === "" ? undefined : dictionary.find(value)
    if (id !== undefined && id < mask.length) mask[id] = 1
  }
}

function markMatching(dictionary: Dictionary, passes: (text: string) => boolean, mask: ValueMask): void {
  for (let id = 1; id < mask.length; id++) {
    const text = dictionary.text(id)
    if (text !== "" && passes(text)) mask[id] = 1
  }
}
