/** A definition as the builder edits it: every condition has an id of its own, so that rows keep their fields when others are removed. */
import type { Condition, Definition, FilterRule, WindowRule } from "../cohort.ts"

export type ConditionType = Condition["type"]

/** Fields of a condition as text. Which of them apply depends on the type. */
export interface ConditionDraft {
  key: number
  type: ConditionType
  negate: boolean
  /** Event name, page, property value, dimension value or amount. Several values are separated by new lines. */
  value: string
  operator: string
  /** Id of a goal, funnel or cohort. */
  reference: string
  property: string
  event: string
  dimension: string
  currency: string
  step: string
  countOp: string
  count: string
  window: "" | WindowRule["type"]
  days: string
  from: string
  to: string
  /** Index of the condition that the window follows. */
  after: string
  filters: FilterRule[]
}

export interface GroupDraft {
  key: number
  match: "all" | "any"
  conditions: (ConditionDraft | GroupDraft)[]
}

export const isGroupDraft = (item: ConditionDraft | GroupDraft): item is GroupDraft => "conditions" in item

let lastKey = 0
const nextKey = (): number => {
  lastKey += 1
  return lastKey
}

export const newCondition = (type: ConditionType = "event"): ConditionDraft => ({
  ...{
    key: nextKey(),
    type,
    negate: false,
    value: "",
    operator: type === "revenue" ? "gte" : "is",
    reference: "",
    property: "",
    event: "",
  },
  ...{ dimension: "country", currency: "EUR", step: "", countOp: "gte", count: type === "active_days" ? "3" : "1" },
  ...{ window: "" as const, days: "30", from: "", to: "", after: "0", filters: [] },
})

export const newGroup = (): GroupDraft => ({ key: nextKey(), match: "any", conditions: [newCondition()] })

export const draftOfDefinition = ({ match = "all", conditions }: Definition): GroupDraft => ({
  key: nextKey(),
  match,
  conditions: conditions.map((item) => ("conditions" in item ? draftOfDefinition(item) : draftOfCondition(item))),
})

function draftOfCondition(condition: Condition): ConditionDraft {
  const { window } = condition
  const draft = { ...newCondition(condition.type), negate: condition.negate ?? false, filters: condition.filters ?? [] }
  if ("operator" in condition && condition.operator) draft.operator = condition.operator
  if ("count" in condition && condition.count) {
    draft.countOp = condition.count.op
    draft.count = String(condition.count.n)
  }
  if (window) {
    draft.window = window.type
    if ("days" in window) draft.days = String(window.days)
    if (window.type === "between") Object.assign(draft, { from: window.from, to: window.to })
    if (window.type === "after") draft.after = String(window.condition)
  }
  switch (condition.type) {
    case "event":
    case "page":
      return { ...draft, value: condition.value }
    case "goal":
      return { ...draft, reference: String(condition.goal_id) }
    case "funnel":
      return { ...draft, reference: String(condition.funnel_id), step: condition.step === undefined ? "" : String(condition.step) }
    case "cohort":
      return { ...draft, reference: String(condition.cohort_id) }
    case "property":
      return { ...draft, property: condition.property, event: condition.event ?? "", value: condition.values.join("\n") }
    case "dimension":
      return { ...draft, dimension: condition.dimension, value: condition.values.join("\n") }
    case "revenue":
      return { ...draft, value: condition.amount, currency: condition.currency }
    default:
      return draft
  }
}

/** Returns the definition of a draft, as the API takes it. Incomplete fields are sent as they are: the answer names them. */
export const definitionOf = ({ match, conditions }: GroupDraft): Definition => ({
  ...(match === "any" && { match }),
  conditions: conditions.map((item) => (isGroupDraft(item) ? definitionOf(item) : conditionOf(item))),
})

function conditionOf(draft: ConditionDraft): Condition {
  const common = {
    ...(draft.negate && { negate: true }),
    ...(draft.window !== "" && { window: windowOf(draft) }),
    ...(draft.filters.length > 0 && {
      filters: draft.filters.map((filter) => ({ ...filter, values: filter.values.filter((value) => value !== "") })),
    }),
  }
  const operator = draft.operator === "is" ? {} : { operator: draft.operator }
  const isOnce = draft.countOp === "gte" && draft.count === "1"
  const count = isOnce ? {} : { count: { op: draft.countOp, n: Number(draft.count) } }
  const values = draft.value
    .split("\n")
    .map((value) => value.trim())
    .filter((value) => value !== "")
  const reference = Number(draft.reference)
  const own = {
    event: { value: draft.value, ...operator, ...count },
    page: { value: draft.value, ...operator, ...count },
    goal: { goal_id: reference, ...count },
    funnel: { funnel_id: reference, ...(draft.step !== "" && { step: Number(draft.step) }) },
    property: { ...(draft.event !== "" && { event: draft.event }), property: draft.property, ...operator, values },
    dimension: { dimension: draft.dimension, ...operator, values },
    first_seen: {},
    revenue: { operator: draft.operator, amount: draft.value, currency: draft.currency },
    active_days: { count: { op: draft.countOp, n: Number(draft.count) } },
    cohort: { cohort_id: reference },
  }[draft.type]
  return { type: draft.type, ...own, ...common } as Condition // the server checks what people typed
}

function windowOf({ window, days, from, to, after }: ConditionDraft): WindowRule {
  if (window === "between") return { type: window, from, to }
  if (window === "after") return { type: window, condition: Number(after), days: Number(days) }
  return { type: window as "last_days", days: Number(days) }
}

/** Returns a group without a condition. Windows after it lose their reference, and those after later ones follow their index. */
export const withoutCondition = (group: GroupDraft, index: number): GroupDraft => ({
  ...group,
  conditions: group.conditions.toSpliced(index, 1).map((item) => {
    if (isGroupDraft(item) || item.window !== "after" || Number(item.after) < index) return item
    return Number(item.after) === index ? { ...item, window: "" as const } : { ...item, after: String(Number(item.after) - 1) }
  }),
})

/** Returns whether every condition has what its type needs, so that it can be evaluated while it is edited. */
export const isComplete = ({ conditions }: GroupDraft): boolean =>
  conditions.length > 0 && conditions.every((item) => (isGroupDraft(item) ? isComplete(item) : isFilled(item)))

function isFilled({ type, value, reference, property, window, from, to, filters }: ConditionDraft): boolean {
  if (filters.some(({ values }) => values.every((one) => one === ""))) return false
  if (window === "between" && (from === "" || to === "")) return false
  if (type === "goal" || type === "funnel" || type === "cohort") return reference !== ""
  if (type === "property") return property !== "" && value !== ""
  return type === "first_seen" || type === "active_days" || value !== ""
}
