import { useRef } from "preact/hooks"
import { useLocation, useSearch } from "wouter"
import type { ListedSiteResponse } from "../../../domain/site-response.ts"
import { canInOrganization, useMe } from "../../api/session.ts"
import { useMedia } from "../../browser/hooks.ts"
import { Button, ButtonLink } from "../../parts/button.tsx"
import { Page } from "../../parts/page.tsx"
import { useKeys } from "../../parts/shortcuts.ts"
import { EmptyState, ErrorState, Skeleton } from "../../parts/states.tsx"
import { PlainShell } from "../../shell/sections-shell.tsx"
import { short } from "../../text/format.ts"
import { visible } from "../../text/safe-text.tsx"
import { grouped, ordered, SORTS, type Sort, troubleOf, useSiteList } from "./site-list.ts"
import { moveBetweenRows, SiteEntry, WindowedList } from "./windowed-list.tsx"

const SORT_LABELS: Readonly<Record<Sort, string>> = { visitors: "Visitors", name: "Name", change: "Change", created: "Newest" }
/** Number of sites above which a virtual list is shown. */
const MANY = 60

/** Lists every site the user can see and marks those that need attention. */
export default function Sites() {
  const me = useMe()
  const list = useSiteList()
  const mayAdd = me?.organizations.some(({ id }) => canInOrganization(me, id, "site:create")) ?? false
  return (
    <PlainShell>
      <Page
        title="All sites"
        actions={
          mayAdd && (
            <ButtonLink href="/sites/new" icon="plus" kind="primary">
              Add site
            </ButtonLink>
          )
        }
      >
        {list.error && !list.sites ? (
          <ErrorState error={list.error} onRetry={list.retry} />
        ) : !list.sites ? (
          <Skeleton rows={6} />
        ) : list.sites.length === 0 ? (
          <NoSites mayAdd={mayAdd} />
        ) : (
          <SiteEntries sites={list.sites} isCounting={list.isCounting} />
        )}
      </Page>
    </PlainShell>
  )
}

const NoSites = ({ mayAdd }: { mayAdd: boolean }) => (
  <section class="card no-sites" aria-label="No sites yet">
    <h2>{mayAdd ? "Add your first site" : "No sites yet"}</h2>
    <p class="quiet">
      {mayAdd
        ? "Name it, add one line of code, and watch the first visit come in."
        : "Ask an organization admin to give you access to a site."}
    </p>
    {mayAdd && (
      <p>
        <ButtonLink href="/sites/new" icon="plus">
          Add site
        </ButtonLink>
      </p>
    )}
  </section>
)

/** Reads search, order and view from the URL. */
function useView() {
  const query = new URLSearchParams(useSearch())
  const [path, navigate] = useLocation()
  const sort = SORTS.find((known) => known === query.get("sort")) ?? "visitors"
  const change = (key: string, value: string, usual: string) => {
    if (value === usual) query.delete(key)
    else query.set(key, value)
    navigate(query.size > 0 ? `${path}?${query}` : path, { replace: true })
  }
  return { wanted: query.get("q") ?? "", sort, isList: query.get("view") === "list", change }
}

function SiteEntries({ sites, isCounting }: { sites: readonly ListedSiteResponse[]; isCounting: boolean }) {
  const { wanted, sort, isList, change } = useView()
  const found = ordered(sites, wanted, sort)
  const isMany = sites.length > MANY
  return (
    <>
      <div class="sites-tools">
        <SearchField value={wanted} onValue={(text) => change("q", text, "")} />
        <label class="row small quiet">
          Sort by
          <select class="input" onChange={(event) => change("sort", event.currentTarget.value, "visitors")}>
            {SORTS.map((one) => (
              <option key={one} value={one} selected={one === sort}>
                {SORT_LABELS[one]}
              </option>
            ))}
          </select>
        </label>
        {!isMany && (
          <div class="row" role="group" aria-label="View">
            <Button aria-pressed={!isList} onClick={() => change("view", "grid", "grid")}>
              Grid
            </Button>
            <Button aria-pressed={isList} onClick={() => change("view", "list", "grid")}>
              List
            </Button>
          </div>
        )}
      </div>
      <Totals sites={found} isCounting={isCounting} />
      {found.length === 0 ? (
        <EmptyState action={<Button onClick={() => change("q", "", "")}>Show all sites</Button>}>
          No sites match “{visible(wanted)}”.
        </EmptyState>
      ) : (
        grouped(found).map(({ name, sites: own }) => (
          <section key={name ?? ""} class="stack" aria-label={name ?? "Sites"}>
            {name !== undefined && <h2>{visible(name)}</h2>}
            <Entries sites={own} isCounting={isCounting} isList={isList || isMany} />
          </section>
        ))
      )}
    </>
  )
}

function Entries({ sites, isCounting, isList }: { sites: readonly ListedSiteResponse[]; isCounting: boolean; isList: boolean }) {
  const rowHeight = useRowHeight()
  if (isList)
    return (
      <WindowedList items={sites} rowHeight={rowHeight} keyOf={({ id }) => id}>
        {(site) => <SiteEntry site={site} isCounting={isCounting} />}
      </WindowedList>
    )
  return (
    <ul class="site-grid" onKeyDown={moveBetweenRows}>
      {sites.map((site) => (
        <li key={site.id} class="site-entry card">
          <SiteEntry site={site} isCounting={isCounting} />
        </li>
      ))}
    </ul>
  )
}

/** Returns the row height that `sites.css` sets. */
const useRowHeight = (): number => (useMedia("(min-width: 768px)") ? 64 : 128)

function Totals({ sites, isCounting }: { sites: readonly ListedSiteResponse[]; isCounting: boolean }) {
  const sum = (of: (site: ListedSiteResponse) => number) => sites.reduce((total, site) => total + of(site), 0)
  const now = Date.now()
  const troubled = sites.filter((site) => troubleOf(site, now) !== undefined).length
  const uncounted = sites.filter(({ visitors }) => visitors === undefined).length
  const visitors = sum((site) => site.visitors ?? 0)
  const parts = [
    `${short(sites.length)} ${sites.length === 1 ? "site" : "sites"}`,
    `${short(sum(({ current_visitors }) => current_visitors))} online`,
    ...(isCounting ? [] : [`${short(visitors)} ${visitors === 1 ? "visitor" : "visitors"} in 7 days`]),
    ...(!isCounting && uncounted > 0 ? [`${short(uncounted)} not counted`] : []),
    ...(troubled > 0 ? [`${short(troubled)} ${troubled === 1 ? "needs" : "need"} attention`] : []),
  ]
  return (
    <p class="small quiet" role="status">
      {parts.join(" · ")}
    </p>
  )
}

/** Renders the search field, which `/` focuses unless another field has the focus. */
function SearchField({ value, onValue }: { value: string; onValue(text: string): void }) {
  const field = useRef<HTMLInputElement>(null)
  useKeys({ "/": () => field.current?.focus() })
  return (
    <input
      ref={field}
      class="input"
      type="search"
      aria-label="Search sites"
      placeholder="Search sites  /"
      value={value}
      onInput={(event) => onValue(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === "ArrowDown") {
          event.preventDefault()
          document.querySelector<HTMLElement>(".site-entry a")?.focus()
        } else if (event.key === "Enter") document.querySelector<HTMLElement>(".site-entry a")?.click()
      }}
    />
  )
}
