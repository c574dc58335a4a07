import { Suspense } from "preact/compat"
import { useEffect, useState } from "preact/hooks"
import { useLocation, useParams } from "wouter"
import { useMe, useSite } from "../../api/session.ts"
import { lastPeriod, useSiteAddress } from "../../browser/address.ts"
import { lazyPart, withAreaStyles } from "../../parts/loading.ts"
import { Page } from "../../parts/page.tsx"
import { Skeleton } from "../../parts/states.tsx"
import { BreakdownCards } from "../../report/cards/cards.tsx"
import { useStatsSource } from "../../report/data/reports.ts"
import { FilterBar, IgnoredAddressParts, useFilterBar } from "../../report/filters/filter-bar.tsx"
import { Instrument } from "../../report/summary.tsx"
import { panels } from "../../shell/plugin-pages.ts"
import { visible } from "../../text/safe-text.tsx"

const NewSite = lazyPart(() => import("../sites/live-check.tsx"), "NewSite")
const Details = lazyPart(() => import("../../report/cards/details.tsx"))

/** Renders the overview page of a site. */
export function Dashboard() {
  const { siteId, base, address, searchWith } = useSiteAddress()
  const { dimension } = useParams<{ dimension?: string }>()
  const [, navigate] = useLocation()
  const me = useMe()
  const name = visible(me?.sites.find(({ id }) => id === siteId)?.name ?? "Site")
  const isKnown = usePeriod()
  const { data: site } = useSite(siteId)
  const [hasFilterBar, onFilterBar] = useFilterBar()
  const [isSettled, setSettled] = useState(false)
  const [isEmpty, setEmpty] = useState(false)
  useEffect(preloadOnInteraction, [])
  return (
    <Page title={name} hideTitle>
      {isKnown ? (
        <>
          <FilterBar onShown={onFilterBar} />
          <IgnoredAddressParts />
          <Instrument isWaiting={!hasFilterBar} onSettled={() => setSettled(true)} onEmpty={setEmpty} />
          {site && !site.first_event_at ? (
            isSettled && (
              <Suspense fallback={<Skeleton />}>
                <NewSite siteId={siteId} />
              </Suspense>
            )
          ) : (
            <>
              <BreakdownCards isWaiting={!isSettled} isEmpty={isEmpty} />
              {isSettled && !isEmpty && <Panels />}
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

/** Preloads the filter pills and empty cards on the first interaction, so that they also work if the server becomes unreachable. */
function preloadOnInteraction(): () => void {
  const loaded = new AbortController()
  const load = () => {
    loaded.abort()
    for (const part of [import("../../report/filters/filter-pills.tsx"), import("../../report/cards/empty-card.tsx")]) part.catch(() => {})
  }
  for (const type of ["pointerdown", "keydown"]) addEventListener(type, load, { capture: true, signal: loaded.signal })
  return () => loaded.abort()
}

const TWO_DAYS_MS = 2 * 86_400_000

/**
 * Returns whether the URL names a period. If it doesn't, adds one: the last period used on this site, *today* if there are less
 * than two days of data, else the default.
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

const PANELS = panels().map(({ plugin, panel }) => ({ plugin, panel, Panel: lazyPart(withAreaStyles(panel.load)) }))

/** Renders the cards of enabled plugins that the user may read. */
function Panels() {
  const features = useMe()?.features ?? []
  const { can } = useStatsSource()
  const shown = PANELS.filter(({ plugin, panel }) => features.includes(plugin) && can(panel.permission))
  if (shown.length === 0) return null
  return (
    <div class="bands">
      {shown.map(({ plugin, panel, Panel }) => (
        <Suspense key={`${plugin} ${panel.id}`} fallback={null}>
          <Panel />
        </Suspense>
      ))}
    </div>
  )
}
