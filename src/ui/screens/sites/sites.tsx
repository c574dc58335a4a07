import { useEffect, useRef, useState } from "preact/hooks"
import { useLocation, useSearch } from "wouter"
import { short } from "../../format.ts"
import { useKeys } from "../../keys.ts"
import { canInOrganization, useMe } from "../../me.ts"
import { Button, ButtonLink } from "../../parts/button.tsx"
import { Page } from "../../parts/page.tsx"
import { EmptyState, ErrorState, Skeleton } from "../../parts/states.tsx"
import { visible } from "../../safe-text.ts"
import { PlainShell } from "../../shell/plain-shell.tsx"
import { grouped, ordered, SORTS, type Sort, troubleOf } from "./order.ts"
import { SiteEntry } from "./site-entry.tsx"
import { type ListedSite, useSiteList } from "./site-list.ts"
import { moveBetweenRows, WindowedList } from "./windowed-list.tsx"

const SORT_WORDS: Readonly<Record<Sort, string>> = { visitors: "Visitors", name: "Name", change: "Change", created: "Newest" }
/** More are shown as a list of which only a part exists. */
const MANY = 60

/** Every site one may see, and which of them asks for a look. */
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
              Add a site
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
          <SitesShown sites={list.sites} isCounting={list.isCounting} />
        )}
      </Page>
    </PlainShell>
  )
}

const NoSites = ({ mayAdd }: { mayAdd: boolean }) => (
  <section class="card no-sites" aria-label="No sites yet">
    <h2>{mayAdd ? "Add your first site" : "No site is open to you yet"}</h2>
    <p class="quiet">
      {mayAdd
        ? "Name it, put one line on its pages, and watch the first visit arrive."
        : "Somebody who manages an organization can give you a role on a site."}
    </p>
    {mayAdd && (
      <p>
        <ButtonLink href="/sites/new" icon="plus">
          Add a site
        </ButtonLink>
      </p>
    )}
  </section>
)

/** What is looked for, the order and the form are in the address. */
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

function SitesShown({ sites, isCounting }: { sites: readonly ListedSite[]; isCounting: boolean }) {
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
                {SORT_WORDS[one]}
              </option>
            ))}
          </select>
        </label>
        {!isMany && (
          <div class="row" role="group" aria-label="Form">
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
          No site has “{visible(wanted)}” in its name or hosts.
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

function Entries({ sites, isCounting, isList }: { sites: readonly ListedSite[]; isCounting: boolean; isList: boolean }) {
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

const WIDE = "(min-width: 768px)"
/** The heights of `sites.css`. */
function useRowHeight(): number {
  const [isWide, setWide] = useState(() => matchMedia(WIDE).matches)
  useEffect(() => {
    const query = matchMedia(WIDE)
    const look = () => setWide(query.matches)
    query.addEventListener("change", look)
    return () => query.removeEventListener("change", look)
  }, [])
  return isWide ? 64 : 128
}

function Totals({ sites, isCounting }: { sites: readonly ListedSite[]; isCounting: boolean }) {
  const sum = (of: (site: ListedSite) => number) => sites.reduce((total, site) => total + of(site), 0)
  const now = Date.now()
  const troubled = sites.filter((site) => troubleOf(site, now) !== undefined).length
  const uncounted = sites.filter(({ visitors }) => visitors === undefined).length
  const visitors = sum((site) => site.visitors ?? 0)
  const parts = [
    `${short(sites.length)} ${sites.length === 1 ? "site" : "sites"}`,
    `${short(sum(({ current_visitors }) => current_visitors))} now`,
    ...(isCounting ? [] : [`${short(visitors)} ${visitors === 1 ? "visitor" : "visitors"} in 7 days, site by site`]),
    ...(!isCounting && uncounted > 0 ? [`${short(uncounted)} not counted`] : []),
    ...(troubled > 0 ? [`${short(troubled)} to look at`] : []),
  ]
  return (
    <p class="small quiet" role="status">
      {parts.join(" · ")}
    </p>
  )
}

/** Reached by `/` from anywhere on the page but another field. */
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
