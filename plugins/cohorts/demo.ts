/** The cohort of the demo. */
import type { DemoSite } from "#plugin"
import type { Area } from "./area.ts"

/** One day, for which every identity mode recognizes people. */
const BUYERS = {
  name: "Bought today",
  description: "People with a purchase today.",
  definition: { conditions: [{ type: "event", value: "purchase", window: { type: "last_days", days: 1 } }] },
}

/** Creates a cohort, and counts its people. */
export async function fillDemo({ host, writes, evaluation }: Area, { site, userId }: DemoSite): Promise<void> {
  const author = { actor: host.audit.system, userId, seesRevenue: true, alongside: async () => {} }
  const cohort = await writes.create(site, BUYERS, author)
  await evaluation.refresh(site, cohort, new AbortController().signal)
}
