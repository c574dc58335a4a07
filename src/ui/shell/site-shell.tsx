import type { ComponentChildren } from "preact"
import { Suspense } from "preact/compat"
import { useMemo, useState } from "preact/hooks"
import { Link } from "wouter"
import type { Realtime } from "../../domain/report.ts"
import { useMe, useSite } from "../api/session.ts"
import { useSiteAddress } from "../browser/address.ts"
import { Icon } from "../parts/icon.tsx"
import { lazyPart } from "../parts/loading.ts"
import { Popover } from "../parts/menu.tsx"
import { NotFound } from "../parts/states.tsx"
import { asFileQuery, createBatch, type StatsSource, StatsSourceContext, useReport, useStatsSource } from "../report/data/reports.ts"
import { short } from "../text/format.ts"
import { visible } from "../text/safe-text.tsx"
import { SiteBottomBar, SiteRail } from "./rail.tsx"
import { type Ranged, RangeTools } from "./range-tools.tsx"
import { TopBar } from "./top-bar.tsx"

const SiteItems = lazyPart(() => import("./shell-menus.tsx"), "SiteItems")
const FreshnessBar = lazyPart(() => import("../report/freshness-bar.tsx"))
const SiteKeys = lazyPart(() => import("./site-keys.tsx"), "SiteKeys")

interface SiteShellProps {
  children: ComponentChildren
  /** Controls of a page about a period. Default: none. */
  ranged?: false | Ranged
}

/** Renders the frame of a site's pages and provides their report source. Renders the 404 page without any request if the user can't see the site. */
export function SiteShell(props: SiteShellProps) {
  const { siteId } = useSiteAddress()
  return useMe()?.sites.some(({ id }) => id === siteId) ? (
    <Frame {...props} />
  ) : (
    <>
      <TopBar />
      <NotFound />
    </>
  )
}

function Frame({ children, ranged = false }: SiteShellProps) {
  const { siteId, searchWith } = useSiteAddress()
  const source = useSource(siteId)
  const [switches, setSwitches] = useState(0)
  const search = searchWith({ cards: {} })
  return (
    <StatsSourceContext.Provider value={source}>
      <TopBar tools={ranged && <RangeTools place="wide" ranged={ranged} />}>
        <SiteSwitcher siteId={siteId} openSignal={switches} />
        <CurrentVisitors />
      </TopBar>
      <div class="frame">
        <SiteRail siteId={siteId} search={search} />
        <div class="content">
          {ranged && <RangeTools place="narrow" ranged={ranged} />}
          {ranged && (
            <Suspense fallback={<div class="progress-line" />}>
              <FreshnessBar />
            </Suspense>
          )}
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

/** Shows the number of visitors in the last five minutes and links to the realtime page. */
function CurrentVisitors() {
  const { siteId } = useStatsSource()
  const { data } = useReport("realtime", {}, { refetchMs: 30_000 })
  const visitors = (data as Realtime | undefined)?.visitors
  return (
    <Link href={`/sites/${siteId}/realtime`} class="button" data-kind="quiet">
      <span class="dot" data-state={visitors ? "on" : "quiet"} />
      {visitors === undefined ? "–" : short(visitors)} online
    </Link>
  )
}

/** Renders the name of the site and a menu of the other sites. */
function SiteSwitcher({ siteId, openSignal }: { siteId: number; openSignal?: number }) {
  const sites = useMe()?.sites ?? []
  const here = sites.find(({ id }) => id === siteId)
  return (
    <Popover
      kind="quiet"
      button={
        <>
          <strong class="site-name">{visible(here?.name ?? "")}</strong>
          <Icon name="down" />
        </>
      }
      label={`Site: ${visible(here?.name ?? "")}`}
      openSignal={openSignal}
    >
      {() => (
        <Suspense fallback={null}>
          <SiteItems sites={sites} />
        </Suspense>
      )}
    </Popover>
  )
}
