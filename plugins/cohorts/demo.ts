/** The cohort of the demo, on the site whose visitors are recognized for a month. */
import type { DemoSite } from "#plugin"
import type { Area } from "./area.ts"

const BUYERS = {
  name: "Bought in the last week",
  description: "Customers with a purchase.",
  definition: { conditions: [{ type: "event", value: "purchase", window: { type: "last_days", days: 7 } }] },
}

/** Creates a cohort, and counts its people. */
export async function fillDemo({ host, writes, evaluation }: Area, { sites, userId }: DemoSite): Promise<void> {
  const site = sites.find(({ settings }) => settings.identity_mode === "monthly")
  if (!site) return
  const author = { actor: host.audit.system, userId, seesRevenue: true, alongside: async () => {} }
  const cohort = await writes.create(site, BUYERS, author)
  await evaluation.refresh(site, cohort, new AbortController().signal)
}
