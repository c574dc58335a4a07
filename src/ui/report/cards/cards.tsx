import { Suspense } from "preact/compat"
import { useSiteAddress } from "../../address.ts"
import { lazyPart } from "../../lazy-screen.ts"
import { Skeleton } from "../../parts/states.tsx"
import { useSite } from "../../site.ts"
import { useStatsSource } from "../../stats/source.ts"
import { useAskedAhead } from "../../stats/use-report.ts"
import { useTurns } from "../../turns.ts"
import { askedBy, BreakdownCard, type BreakdownCardProps } from "./breakdown-card.tsx"
import { ACT_TABS, DEVICE_TABS, PAGE_TABS, PLACE_TABS, SOURCE_TABS } from "./card-tabs.ts"

const BusyHours = lazyPart(() => import("./busy-hours.tsx"))
const WorldMap = lazyPart(() => import("./world-map.tsx"))

const MAP: NonNullable<BreakdownCardProps["drawn"]> = {
  tab: "map",
  draw: (rows, addressOf) => (
    <Suspense fallback={<Skeleton />}>
      <WorldMap rows={rows} addressOf={addressOf} />
    </Suspense>
  ),
}

/** What the site's visits are split by, in pairs; a shared view shows some of it. They are asked for at once and drawn one after the other. */
export function BreakdownCards() {
  const { address } = useSiteAddress()
  const { shows, siteId, can } = useStatsSource()
  const { data: site } = useSite(siteId)
  const hasHosts = site !== undefined && (site.hosts.length > 1 || site.hosts.some((host) => host.includes("*")))
  const all: readonly BreakdownCardProps[] = [
    { card: "sources", title: "Sources", tabs: SOURCE_TABS },
    { card: "pages", title: "Pages", tabs: hasHosts ? PAGE_TABS : PAGE_TABS.filter(({ id }) => id !== "hostname") },
    { card: "locations", title: "Locations", tabs: PLACE_TABS, drawn: MAP },
    { card: "devices", title: "Devices", tabs: DEVICE_TABS },
    { card: "acts", title: "Goals and events", tabs: ACT_TABS.filter(({ id }) => shows(id)), full: true },
  ]
  const cards = all.filter(({ card, tabs }) => (card === "acts" ? tabs.length > 0 : shows(card)))
  useAskedAhead(cards.map((card) => askedBy(card, address, can("revenue:read"))))
  const turns = useTurns(cards.length + 1)
  return (
    <div class="bands" aria-busy={turns <= cards.length}>
      {cards.slice(0, turns).map((card) => (
        <BreakdownCard key={card.card} {...card} />
      ))}
      {turns > cards.length && shows("busy_hours") && (
        <Suspense fallback={<div aria-busy="true" />}>
          <BusyHours />
        </Suspense>
      )}
    </div>
  )
}
