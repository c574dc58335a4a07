import { TRAITS } from "../../../src/domain/visit.ts"
import type { VisitRow } from "../../../src/store/clickhouse/visit-row.ts"

export const DAY = Date.parse("2026-11-20T00:00:00Z")
export const HOUR = 3_600_000

/** Returns a visit of two events an hour after the start of a day. */
export const visitOf = (siteId: number, visit: number, more: Partial<VisitRow> = {}): VisitRow => ({
  ...{ siteId, kind: "visits", openedAt: DAY + HOUR + visit, visit, version: 1, importId: 0, run: 0 },
  ...{ opener: 1n, visitor: BigInt(visit) << 40n, visitorKind: "rotating", startedAt: DAY + HOUR + visit, sequence: visit },
  ...{ duration: 500, pageviews: 1, events: 2, interactive: 1, engaged: 0, arrival: 3, closed: false },
  pages: ["/a", "/a", "example.com", "example.com"],
  traits: TRAITS.map((trait) => (trait === "country" ? "DE" : "")),
  steps: [
    { offset: 0, name: "pageview", page: "/a", hostname: "example.com", title: "A", interactive: false, props: [] },
    { offset: 500, name: "Sign up", page: "/a", hostname: "example.com", title: "A", interactive: true, props: [["plan", `p${visit}`]] },
  ],
  ...more,
})
