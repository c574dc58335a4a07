import { expect, test } from "bun:test"
import type { AreaStep, PassingEvent } from "../../src/ingest/pipeline/areas.ts"
import { startIntake } from "./intake.ts"

test("each step sees the properties added by earlier steps, and the steps of a disabled area do not run", async () => {
  const seen: (readonly [step: string, props: PassingEvent["props"]])[] = []
  const step =
    (name: string, found?: Record<string, string>): AreaStep =>
    ({ props }) => {
      seen.push([name, props])
      return found
    }
  const steps = [
    { step: step("silent"), isOn: () => true },
    { step: step("off", { off: "yes" }), isOn: () => false },
    { step: step("first", { shelf: "books" }), isOn: () => true },
    { step: step("second", { plan: "by the area" }), isOn: () => true },
    { step: step("last"), isOn: () => true },
  ]
  using intake = startIntake({}, { areaSteps: () => steps })
  await intake.send({ p: { plan: "pro" } })
  const sent = [["plan", "pro"]]
  expect(seen as unknown[]).toEqual([
    ["silent", sent],
    ["first", sent],
    ["second", [...sent, ["shelf", "books"]]],
    [
      "last",
      [
        ["shelf", "books"],
        ["plan", "by the area"],
      ],
    ],
  ])
})
