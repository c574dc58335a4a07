import { Suspense } from "preact/compat"
import { useSite } from "../../api/session.ts"
import { useSiteAddress } from "../../browser/address.ts"
import { lazyPart, useTurns } from "../../parts/loading.ts"
import { Skeleton } from "../../parts/states.tsx"
import { ACT_TABS, DEVICE_TABS, PAGE_TABS, PLACE_TABS, SOURCE_TABS } from "../data/card-tabs.ts"
import { useStatsSource } from "../data/source.ts"
import { usePrefetchedReports } from "../data/use-report.ts"
import { askedBy, BreakdownCard, type BreakdownCardProps } from "./breakdown-card.tsx"

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

interface BreakdownCardsProps {
  /** Whether to draw nothing yet, because the content above the cards does not have its final size. */
  waits?: boolean
}

/** The breakdown cards of a page in two columns. A shared view shows some of them. They are fetched in one request and drawn one after the other. */
export function BreakdownCards({ waits = false }: BreakdownCardsProps) {
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
  usePrefetchedReports(cards.map((card) => askedBy(card, address, can("revenue:read"))))
  const turns = useTurns(waits ? 0 : cards.length + 1)
  if (waits) return null
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
