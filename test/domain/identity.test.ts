import { expect, test } from "bun:test"
import { modeAt } from "../../src/domain/identity.ts"
import type { Site } from "../../src/domain/site.ts"

const site = (history: Site["identity_history"]) =>
  ({ settings: { identity_mode: "monthly" }, identity_history: history }) as Pick<Site, "settings" | "identity_history"> // the rest is not read

test("the mode at a time is that of the latest change before it", () => {
  const history = [
    { from: 0, timezone: "UTC", identity_mode: "daily" as const },
    { from: 1_000, timezone: "UTC", identity_mode: "weekly" as const },
  ]
  expect([0, 999, 1_000, 5_000].map((at) => modeAt(site(history), at))).toEqual(["daily", "daily", "weekly", "weekly"])
})

test("the mode before the first recorded change is its mode, and without changes that of the settings", () => {
  expect(modeAt(site([{ from: 1_000, timezone: "UTC", identity_mode: "weekly" }]), 0)).toBe("weekly")
  expect(modeAt(site([]), 0)).toBe("monthly")
})
