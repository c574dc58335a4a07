import { describe, expect, test } from "bun:test"
import type { Fault } from "#plugin"
import type { Definition } from "../cohort.ts"
import { minorUnits, readDefinition } from "../definition.ts"
import { leaveOneOut } from "../leave-one-out.ts"

const signup = { type: "event", value: "signup" } as const
const within = (days: number, condition = 0) => ({ type: "after", condition, days }) as const

/** Returns the faults of a definition as pointer and code. */
function faultsOf(definition: unknown): string[] {
  const faults: Fault[] = []
  readDefinition(definition, "/definition", faults)
  return faults.map(({ pointer, code }) => `${pointer} ${code}`)
}

function refusalOf(definition: unknown): { code: string; errors: string[] } {
  try {
    readDefinition(definition, "/definition", [])
  } catch (error) {
    const { code, members } = error as { code: string; members: { errors?: Fault[] } }
    return { code, errors: (members.errors ?? []).map(({ pointer }) => pointer) }
  }
  throw new Error("The definition was accepted")
}

describe("definitions of cohorts", () => {
  test("all ten types of conditions are accepted and kept as they were sent", () => {
    const definition = {
      match: "any",
      conditions: [
        { ...signup, operator: "starts_with", count: { op: "gte", n: 2 }, window: { type: "last_days", days: 30 } },
        { type: "page", value: "/pricing", negate: true },
        { type: "goal", goal_id: 3 },
        { type: "funnel", funnel_id: 4, step: 2 },
        { type: "property", event: "signup", property: "plan", operator: "gte", values: ["10.50"] },
        { type: "dimension", dimension: "country", values: ["DE"] },
        { conditions: [{ type: "first_seen", window: { type: "between", from: "2026-10-01", to: "2026-10-31" } }] },
        { type: "revenue", operator: "gt", amount: "99.90", currency: "EUR" },
        { type: "active_days", count: { op: "lte", n: 3 } },
        { type: "cohort", cohort_id: 7 },
      ],
    }
    expect(readDefinition(definition, "/definition", [])).toEqual(definition as Definition)
  })

  test.each([
    ["a definition that is no object", [], ["/definition invalid_type"]],
    ["no conditions", { conditions: [] }, ["/definition/conditions too_few"]],
    ["an unknown type", { conditions: [{ type: "visited" }] }, ["/definition/conditions/0/type invalid_choice"]],
    ["a condition without a type", { conditions: [{}] }, ["/definition/conditions/0/type required"]],
    ["an unknown field", { conditions: [{ ...signup, times: 2 }] }, ["/definition/conditions/0/times unknown_field"]],
    [
      "a count out of range",
      { conditions: [{ ...signup, count: { op: "gte", n: -1 } }] },
      ["/definition/conditions/0/count/n out_of_range"],
    ],
    [
      "a count that is no whole number",
      { conditions: [{ ...signup, count: { op: "gte", n: 1.5 } }] },
      ["/definition/conditions/0/count/n invalid_type"],
    ],
    ["an event without a name", { conditions: [{ type: "event" }] }, ["/definition/conditions/0/value required"]],
    [
      "a pattern with too many asterisks",
      { conditions: [{ ...signup, value: "*".repeat(9), operator: "matches_wildcard" }] },
      ["/definition/conditions/0/value invalid_pattern"],
    ],
    [
      "a window that ends before it begins",
      { conditions: [{ ...signup, window: { type: "between", from: "2026-02-02", to: "2026-02-01" } }] },
      ["/definition/conditions/0/window/to invalid_range"],
    ],
    [
      "a day that does not exist",
      { conditions: [{ ...signup, window: { type: "between", from: "2026-02-30", to: "2026-03-01" } }] },
      ["/definition/conditions/0/window/from invalid_date"],
    ],
    [
      "an unknown window",
      { conditions: [{ ...signup, window: { type: "ever" } }] },
      ["/definition/conditions/0/window/type invalid_choice"],
    ],
    [
      "a window of too many days",
      { conditions: [{ ...signup, window: { type: "last_days", days: 1096 } }] },
      ["/definition/conditions/0/window/days out_of_range"],
    ],
    [
      "a dimension of events",
      { conditions: [{ type: "dimension", dimension: "page", values: ["/"] }] },
      ["/definition/conditions/0/dimension invalid_choice"],
    ],
    [
      "text where numbers are compared",
      { conditions: [{ type: "property", property: "n", operator: "lt", values: ["ten"] }] },
      ["/definition/conditions/0/values/0 invalid_type"],
    ],
    [
      "an unknown currency",
      { conditions: [{ type: "revenue", operator: "gt", amount: "1", currency: "ABC" }] },
      ["/definition/conditions/0/currency invalid_choice"],
    ],
    [
      "more decimals than the currency has",
      { conditions: [{ type: "revenue", operator: "gt", amount: "1.5", currency: "JPY" }] },
      ["/definition/conditions/0/amount out_of_range"],
    ],
    [
      "a cohort as a filter of a condition",
      { conditions: [{ ...signup, filters: [{ dimension: "cohort", values: [1] }] }] },
      ["/definition/conditions/0/filters/0/dimension unsupported_combination"],
    ],
    [
      "a group within a group",
      { conditions: [{ conditions: [{ conditions: [signup] }] }] },
      ["/definition/conditions/0/conditions/0 invalid_definition"],
    ],
    [
      "a fault within a group",
      { conditions: [signup, { conditions: [{ type: "goal" }] }] },
      ["/definition/conditions/1/conditions/0/goal_id required"],
    ],
  ])("%s is refused with a pointer", (_, definition, faults) => {
    expect(faultsOf(definition)).toEqual(faults)
  })

  test("more than ten conditions are too many, those of groups included", () => {
    const many = Array.from({ length: 6 }, () => signup)
    expect(refusalOf({ conditions: [...many.slice(1), { conditions: many }] }).code).toBe("too_many_conditions")
  })

  test("more than three references to cohorts are too many", () => {
    expect(refusalOf({ conditions: [1, 2, 3, 4].map((cohort_id) => ({ type: "cohort", cohort_id })) }).code).toBe("too_many_conditions")
  })

  test.each([
    ["itself", [{ ...signup, window: within(7, 0) }]],
    ["a later condition", [signup, { ...signup, window: within(7, 2) }, signup]],
    ["a group", [{ conditions: [signup] }, { ...signup, window: within(7) }]],
    [
      "a negated condition",
      [
        { ...signup, negate: true },
        { ...signup, window: within(7) },
      ],
    ],
    [
      "a count with an upper bound",
      [
        { ...signup, count: { op: "lte", n: 3 } },
        { ...signup, window: within(7) },
      ],
    ],
    [
      "a sum with an upper bound",
      [
        { type: "revenue", operator: "lt", amount: "1", currency: "EUR" },
        { ...signup, window: within(7) },
      ],
    ],
    [
      "a cohort",
      [
        { type: "cohort", cohort_id: 1 },
        { ...signup, window: within(7) },
      ],
    ],
  ])("a window cannot follow %s", (_, conditions) => {
    const { code, errors } = refusalOf({ conditions })
    expect(code).toBe("invalid_definition")
    expect(errors).toHaveLength(1)
  })

  test("amounts become minor units without fractions", () => {
    expect([minorUnits("12.5", 2), minorUnits("-0.07", 2), minorUnits("7", 0), minorUnits("1.2", 3)]).toEqual([1250, -7, 7, 1200])
  })

  test("leaving one condition out keeps the references of windows right", () => {
    const definition: Definition = { conditions: [{ type: "first_seen" }, signup, { ...signup, window: within(7, 1) }] }
    expect(leaveOneOut(definition)).toEqual([
      { conditions: [signup, { ...signup, window: within(7, 0) }] },
      { conditions: [{ type: "first_seen" }, signup] },
      { conditions: [{ type: "first_seen" }, signup] },
    ])
  })
})
