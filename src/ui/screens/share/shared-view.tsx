import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useEffect, useMemo, useState } from "preact/hooks"
import { useParams } from "wouter"
import type { Realtime, Summary } from "../../../domain/report.ts"
import { type SiteAddress, summaryArguments } from "../../../domain/site-address.ts"
import { AddressPlaceContext, useSiteAddress } from "../../address.ts"
import { get, Problem, post } from "../../api.ts"
import { rangeText, short } from "../../format.ts"
import { Button } from "../../parts/button.tsx"
import { TextField } from "../../parts/fields.tsx"
import { Form } from "../../parts/form.tsx"
import { Mark } from "../../parts/mark.tsx"
import { Page } from "../../parts/page.tsx"
import { ErrorState, SystemPage } from "../../parts/states.tsx"
import { visible } from "../../safe-text.ts"
import { RangeTools } from "../../shell/range-tools.tsx"
import { FreshnessBar } from "../../stats/freshness.tsx"
import { StatsSourceContext } from "../../stats/source.ts"
import { useReport } from "../../stats/use-report.ts"
import { BreakdownCards } from "../dashboard/cards.tsx"
import { FilterBar } from "../dashboard/filter-bar.tsx"
import { Instrument } from "../dashboard/instrument.tsx"
import { LeftOut } from "../dashboard/left-out.tsx"
import { allowedAddress, type ShareAnswer, type SharedView, sharedSource } from "./share-source.ts"

/** A view of a site for strangers: only what its owner shows and allows. */
export default function SharedViewPage() {
  const { slug = "" } = useParams<{ slug: string }>()
  const { data, error, refetch } = useQuery({
    queryKey: ["share", slug],
    queryFn: ({ signal }) => get<ShareAnswer>(`/api/share/s/${encodeURIComponent(slug)}`, signal),
  })
  useSystemTheme()
  if (error instanceof Problem && error.status === 404) return <NothingShared />
  if (error && !data)
    return (
      <SystemPage title="The view cannot be shown now">
        <ErrorState error={error} onRetry={() => void refetch()} />
      </SystemPage>
    )
  if (!data) return <div class="progress-line" />
  return data.password_required ? <Locked slug={slug} /> : <Shown slug={slug} view={data} />
}

/** Whoever set a theme here set it for their own pages. */
function useSystemTheme(): void {
  useEffect(() => {
    const root = document.documentElement
    const before = root.dataset.theme
    root.dataset.theme = "auto"
    return () => {
      if (before !== undefined) root.dataset.theme = before
    }
  }, [])
}

/** The same for what never was, what has ended and what was taken back. */
function NothingShared() {
  useEffect(() => {
    document.title = "Nothing is here · Footfall"
  }, [])
  return (
    <SystemPage title="Nothing is here">
      <p>There is no shared view at this address, or there is none any more. Whoever gave you the address can tell.</p>
    </SystemPage>
  )
}

function Locked({ slug }: { slug: string }) {
  const [password, setPassword] = useState("")
  const client = useQueryClient()
  const unlock = async () => {
    await post(`/api/share/s/${encodeURIComponent(slug)}/unlock`, { password }, { isSignIn: true })
    await client.invalidateQueries({ queryKey: ["share", slug] })
  }
  useEffect(() => {
    document.title = "Shared view · Footfall"
  }, [])
  return (
    <SystemPage title="This view has a password">
      <Form submit={unlock}>
        {({ busy }) => (
          <>
            <TextField label="Password" type="password" value={password} onValue={setPassword} autocomplete="off" autofocus required />
            <div>
              <Button kind="primary" type="submit" busy={busy}>
                Open the view
              </Button>
            </div>
          </>
        )}
      </Form>
    </SystemPage>
  )
}

/** In a page of somebody else the view has no frame of its own. */
const isEmbedded = (): boolean => window.self !== window.top

function Shown({ slug, view }: { slug: string; view: SharedView }) {
  const client = useQueryClient()
  const source = useMemo(
    () => sharedSource(slug, view, () => void client.invalidateQueries({ queryKey: ["share", slug] })),
    [slug, view, client],
  )
  const place = useMemo(
    () => ({ base: `/share/s/${slug}`, key: `share ${slug}`, holds: (address: SiteAddress) => allowedAddress(view, address) }),
    [slug, view],
  )
  const shows = (section: string) => view.sections.includes(section)
  const tools = view.allow_range && <RangeTools place="wide" />
  return (
    <AddressPlaceContext.Provider value={place}>
      <StatsSourceContext.Provider value={source}>
        {isEmbedded() ? (
          <div class="share-bar">{tools}</div>
        ) : (
          <header class="top-bar">
            <a class="button skip-link" href="#main">
              Skip to content
            </a>
            <span class="mark">
              <Mark />
              <span class="site-name">{visible(view.site.name)}</span>
            </span>
            {shows("realtime") && <Now />}
            <span class="grow" />
            {tools}
          </header>
        )}
        <div class="content">
          {view.allow_range && <RangeTools place="narrow" />}
          <FreshnessBar />
          <Page title={visible(view.name)}>
            {!view.allow_range && shows("summary") && <FixedRange />}
            {view.allow_filters && <FilterBar />}
            <LeftOut />
            {shows("summary") && <Instrument />}
            <BreakdownCards />
          </Page>
        </div>
      </StatsSourceContext.Provider>
    </AddressPlaceContext.Provider>
  )
}

/** Which days the owner has chosen: the answer says it. */
function FixedRange() {
  const { address } = useSiteAddress()
  const { data } = useReport("summary", summaryArguments(address))
  const range = (data as Summary | undefined)?.range
  return <p class="quiet">{range ? `${rangeText(range.from, range.to)} · ${range.timezone}` : " "}</p>
}

function Now() {
  const { data } = useReport("realtime", {}, { refetchMs: 30_000 })
  const visitors = (data as Realtime | undefined)?.visitors
  return (
    <span class="row small quiet">
      <span class="dot" data-state={visitors ? "on" : "quiet"} />
      {visitors === undefined ? "–" : short(visitors)} now
    </span>
  )
}
