import type { ComponentChildren } from "preact"
import { Suspense } from "preact/compat"
import { useMemo, useState } from "preact/hooks"
import { useMe, useSite } from "../api/session.ts"
import { useSiteAddress } from "../browser/address.ts"
import { lazyPart } from "../parts/loading.ts"
import { NotFound } from "../parts/states.tsx"
import { createBatch } from "../report/data/batch.ts"
import { asFileQuery, type StatsSource, StatsSourceContext } from "../report/data/source.ts"
import { FreshnessBar } from "../report/summary/freshness.tsx"
import { CurrentVisitors } from "./current-visitors.tsx"
import { SiteBottomBar, SiteRail } from "./rail.tsx"
import { RangeTools } from "./range-tools.tsx"
import { SiteSwitcher } from "./site-switcher.tsx"
import { TopBar } from "./top-bar.tsx"

const SiteKeys = lazyPart(() => import("./site-keys.tsx"))

interface SiteShellProps {
  children: ComponentChildren
  /** Whether the page is about a period. */
  ranged?: boolean
}

/** Renders the frame of a site's pages and provides their report source. Renders the 404 page without any request if the user can't see the site. */
export function SiteShell(props: SiteShellProps) {
  const { siteId } = useSiteAddress()
  return useMe()?.sites.some(({ id }) => id === siteId) ? <Frame {...props} /> : <NotFound />
}

function Frame({ children, ranged = false }: SiteShellProps) {
  const { siteId, searchWith } = useSiteAddress()
  const source = useSource(siteId)
  const [switches, setSwitches] = useState(0)
  const search = searchWith({ cards: {} })
  return (
    <StatsSourceContext.Provider value={source}>
      <TopBar tools={ranged && <RangeTools place="wide" />}>
        <SiteSwitcher siteId={siteId} openSignal={switches} />
        <CurrentVisitors />
      </TopBar>
      <div class="frame">
        <SiteRail siteId={siteId} search={search} />
        <div class="content">
          {ranged && <RangeTools place="narrow" />}
          {ranged && <FreshnessBar />}
          {children}
        </div>
      </div>
      <SiteBottomBar siteId={siteId} search={search} />
      <Suspense fallback={null}>
        <SiteKeys siteId={siteId} search={search} onSwitch={() => setSwitches(switches + 1)} />
      </Suspense>
    </StatsSourceContext.Provider>
  )
}

function useSource(siteId: number): StatsSource {
  const me = useMe()
  const { data: site } = useSite(siteId)
  const ask = useMemo(() => createBatch(siteId), [siteId])
  const permissions = me?.sites.find(({ id }) => id === siteId)?.permissions ?? []
  return {
    key: `site ${siteId}`,
    siteId,
    timezone: site?.timezone ?? "UTC",
    currency: site?.revenue_currency ?? "EUR",
    ask,
    exportAddress: permissions.includes("export:read")
      ? (report, given) => `/api/private/sites/${siteId}/export?${asFileQuery(report, given)}`
      : undefined,
    filters: true,
    shows: () => true,
    can: (permission) => permissions.includes(permission),
  }
}
