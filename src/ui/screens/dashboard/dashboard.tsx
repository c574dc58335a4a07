import { Suspense } from "preact/compat"
import { useEffect } from "preact/hooks"
import { useLocation, useParams } from "wouter"
import { lastPeriod, useSiteAddress } from "../../address.ts"
import { lazyPart } from "../../lazy-screen.ts"
import { useMe } from "../../me.ts"
import { Page } from "../../parts/page.tsx"
import { Skeleton } from "../../parts/states.tsx"
import { visible } from "../../safe-text.ts"
import { useSite } from "../../site.ts"
import { BreakdownCards } from "./cards.tsx"
import { FilterBar } from "./filter-bar.tsx"
import { Instrument } from "./instrument.tsx"
import { LeftOut } from "./left-out.tsx"
import { Panels } from "./panels.tsx"

const NewSite = lazyPart(() => import("./new-site.tsx"))
const Details = lazyPart(() => import("./details.tsx"))

/** The page that answers the daily questions without a click. */
export function Dashboard() {
  const { siteId, base, address, searchWith } = useSiteAddress()
  const { dimension } = useParams<{ dimension?: string }>()
  const [, navigate] = useLocation()
  const me = useMe()
  const name = visible(me?.sites.find(({ id }) => id === siteId)?.name ?? "Site")
  const isKnown = usePeriod()
  const { data: site } = useSite(siteId)
  return (
    <Page title={name} hideTitle>
      {isKnown ? (
        <>
          <FilterBar />
          <LeftOut />
          <Instrument />
          {site && !site.first_event_at ? (
            <Suspense fallback={<Skeleton />}>
              <NewSite siteId={siteId} />
            </Suspense>
          ) : (
            <>
              <BreakdownCards />
              <Panels />
            </>
          )}
        </>
      ) : (
        <Skeleton rows={12} />
      )}
      {dimension !== undefined && (
        <Suspense fallback={<div class="progress-line" />}>
          <Details key={dimension} name={dimension} address={address} onClose={() => navigate(`${base}${searchWith({})}`)} />
        </Suspense>
      )}
    </Page>
  )
}

const TWO_DAYS_MS = 2 * 86_400_000

/**
 * Whether the period is settled. An address without one gets that which was looked at last, today where there are less than
 * two days of data, else the usual one: from then on the address alone says what is shown.
 */
function usePeriod(): boolean {
  const { siteId, address, namesPeriod, go } = useSiteAddress()
  const remembers = !namesPeriod && lastPeriod(String(siteId)) !== undefined
  const { data: site, error } = useSite(siteId)
  const isKnown = namesPeriod || remembers || site !== undefined || error !== null
  useEffect(() => {
    if (namesPeriod || !isKnown) return
    const isYoung = site !== undefined && (!site.first_event_at || Date.now() - Date.parse(site.first_event_at) < TWO_DAYS_MS)
    go(!remembers && isYoung ? { period: "today" } : { period: address.period }, { replace: true })
  }, [namesPeriod, isKnown])
  return namesPeriod
}
