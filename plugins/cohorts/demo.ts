/** The cohorts of the demo. */
import type { DemoSite } from "#plugin"
import type { Area } from "./area.ts"

const lastDays = (days: number) => ({ type: "last_days", days })

const COHORTS = [
  {
    name: "Bought more than once",
    description: "People with at least two purchases in the last 90 days.",
    definition: { conditions: [{ type: "event", value: "purchase", count: { op: "gte", n: 2 }, window: lastDays(90) }] },
  },
  {
    name: "Readers without a purchase",
    description: "People who read the magazine in the last 28 days and bought nothing.",
    definition: {
      conditions: [
        { type: "page", value: "/magazine/", operator: "starts_with", window: lastDays(28) },
        { type: "event", value: "purchase", negate: true, window: lastDays(28) },
      ],
    },
  },
]

/** Creates the cohorts, and counts their people. */
export async function fillDemo({ host, writes, evaluation }: Area, { site, userId }: DemoSite): Promise<void> {
  const author = { actor: host.audit.system, userId, seesRevenue: true, alongside: async () => {} }
  for (const cohort of COHORTS) {
    const created = await writes.create(site, cohort, author)
    await evaluation.refresh(site, created, new AbortController().signal)
  }
}
