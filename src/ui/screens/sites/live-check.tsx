import { useQueryClient } from "@tanstack/react-query"
import type { ComponentChildren } from "preact"
import { useEffect, useState } from "preact/hooks"
import { coversHost } from "../../../domain/site.ts"
import type { OwnSiteResponse } from "../../../domain/site-response.ts"
import { patch } from "../../api/api.ts"
import { canOnSite, useMe, useSite } from "../../api/session.ts"
import { Button } from "../../parts/button.tsx"
import { browserZone } from "../../parts/form/locale-fields.tsx"
import { Icon } from "../../parts/icon.tsx"
import { errorText } from "../../parts/states.tsx"
import { toast } from "../../parts/toasts.tsx"
import { DROP_REASON_LABELS } from "../../report/drop-reasons.ts"
import { clockText, timeText } from "../../text/format.ts"
import { visible } from "../../text/safe-text.tsx"
import { checksOf, type StepState, type Trouble, useLive } from "./live-state.ts"
import { collectOrigin, examplePage, SnippetTabs } from "./snippets.tsx"

const POLL_MS = 10_000

/** Replaces the cards until the first event by the snippet and the installation check, and polls for that event. */
export function NewSite({ siteId }: { siteId: number }) {
  const client = useQueryClient()
  useEffect(() => {
    const timer = setInterval(() => {
      void client.invalidateQueries({ queryKey: ["site", siteId] })
    }, POLL_MS)
    return () => {
      clearInterval(timer)
      // The drops were fetched before there were any.
      void client.invalidateQueries({ queryKey: ["drops", siteId] })
    }
  }, [client, siteId])
  return <LiveCheck siteId={siteId} />
}

/** Shows the snippet and checks its installation live. Replaces the dashboard's cards until the first event, and follows adding a site. */
export function LiveCheck({ siteId }: { siteId: number }) {
  const { data: site } = useSite(siteId)
  if (!site) return null
  return (
    <div class="bands">
      <section class="card stack" aria-labelledby="put-on-pages">
        <h2 id="put-on-pages">Add this snippet to your site</h2>
        <SnippetTabs site={site} />
      </section>
      <section class="card stack" aria-labelledby="live-check">
        <h2 id="live-check">Installation check</h2>
        <CheckList site={site} />
      </section>
    </div>
  )
}

function CheckList({ site }: { site: OwnSiteResponse }) {
  const { state, retryAt } = useLive(site.id)
  const mayWrite = canOnSite(useMe(), site.id, "site:write")
  const zone = browserZone()
  const now = Date.now()
  const checks = checksOf(site, state, zone, now)
  return (
    <>
      <ol class="check-list" aria-live="polite">
        <Step
          state={checks.script}
          done={state.scriptAt ? `Script found at ${timeText(state.scriptAt, site.timezone)}` : "Your pages reach this instance"}
          waiting="Waiting for the script to load"
        />
        <Step
          state={checks.event}
          done={
            state.event
              ? `Event ${visible(state.event.name)} on ${visible(state.event.hostname)}${visible(state.event.page)}`
              : `First event at ${timeText(site.first_event_at ?? now, site.timezone)}`
          }
          waiting="Waiting for the first event. Open a page of your site."
        >
          {checks.trouble && <TroubleNotice trouble={checks.trouble} site={site} mayWrite={mayWrite} />}
        </Step>
        <Step state={checks.host} done="Domain: allowed" waiting="Domain: checked with the first event">
          {checks.unknownHosts.map((hostname) => (
            <UnknownHost key={hostname} hostname={hostname} site={site} mayWrite={mayWrite} />
          ))}
        </Step>
        <Step state={checks.zone} done={`Time zone: ${site.timezone} (now ${clockText(now, site.timezone)})`}>
          <span class="small">
            Reports use {site.timezone} (now {clockText(now, site.timezone)}). Your browser is in {zone} (now {clockText(now, zone)}).
          </span>
          {mayWrite && <UseZone site={site} zone={zone} />}
        </Step>
      </ol>
      {retryAt !== undefined && (
        <p class="small quiet" role="status">
          Connection lost. Reconnecting…
        </p>
      )}
      <TestEvent site={site} />
    </>
  )
}

interface TroubleProps {
  trouble: Trouble
  site: OwnSiteResponse
  mayWrite: boolean
}

/** Explains why events are not counted and what to do. */
function TroubleNotice({ trouble, site, mayWrite }: TroubleProps) {
  const host = <strong>{visible(trouble.hostname)}</strong>
  if (trouble.kind === "local")
    return (
      <span class="stack">
        <span>
          The script loaded on {host}, which is a local address. Visits there are only counted if the script element has{" "}
          <code>data-local</code>.
          {coversHost(site.hosts, trouble.hostname) && " The snippet above has it, so replace the one on your page."}
        </span>
        {!coversHost(site.hosts, trouble.hostname) && (
          <>
            <span>
              {mayWrite
                ? "Add it to the site's hosts, then replace the snippet on your page with the one above."
                : "Ask an admin of this site to add it to its hosts."}
            </span>
            {mayWrite && <AllowHost hostname={trouble.hostname} site={site} />}
          </>
        )}
      </span>
    )
  if (trouble.kind === "dropped")
    return (
      <span>
        An event from {host} was dropped: {(DROP_REASON_LABELS[trouble.reason] ?? trouble.reason).toLowerCase()}.{" "}
        {REMEDIES[trouble.reason] ?? DEFAULT_REMEDY}
      </span>
    )
  return (
    <div class="stack">
      <span>The script loaded on {host}, but no event has arrived. Check the following:</span>
      <ul class="bullets">
        <li>
          An ad blocker or a browser extension may block requests to <code>{collectOrigin(site)}</code>. Turn it off for this page.
        </li>
        <li>
          The page's Content-Security-Policy may not allow <code>connect-src {collectOrigin(site)}</code>.
        </li>
        <li>This browser may be excluded from statistics or automated. Neither is counted.</li>
        <li>
          Attributes of the script element, such as <code>data-exclude</code> or <code>data-manual</code>, may exclude the page.
        </li>
      </ul>
    </div>
  )
}

const DEFAULT_REMEDY = "Check the site's filters and shields in Settings."
/** Remedies for a dropped event, by reason. */
const REMEDIES: Readonly<Record<string, string>> = {
  unknown_site: "The tracking ID in the page's snippet isn't that of this site. Replace the snippet with the one above.",
  bot: "Bots and automated browsers aren't counted. Open the page in a regular browser.",
  gpc: "The browser sends Do Not Track or GPC, and this site respects it. Use another browser for this check.",
  rate: "Too many events came from one IP address. Wait a minute, then open the page again.",
  invalid: "The event couldn't be read. Use the snippet above without changes.",
}

interface StepProps {
  state: StepState
  done: string
  waiting?: string
  /** Evidence and remedy, shown if the step failed. */
  children?: ComponentChildren
}

const STATE_LABELS: Readonly<Record<StepState, string>> = { waiting: "Waiting", ok: "Done", failed: "Failed" }

const Step = ({ state, done, waiting, children }: StepProps) => (
  <li data-state={state}>
    <span class="check-mark">
      {state === "ok" ? <Icon name="check" /> : state === "failed" ? <Icon name="warning" /> : <span class="dot" data-state="quiet" />}
      <span class="visually-hidden">{STATE_LABELS[state]}:</span>
    </span>
    {state === "failed" ? null : <span>{state === "ok" ? done : waiting}</span>}
    {state === "failed" && children}
  </li>
)

function AllowHost({ hostname, site }: { hostname: string; site: OwnSiteResponse }) {
  const { busy, run } = useChange(site.id)
  const allow = () => run(() => patch(`/api/private/sites/${site.id}`, { hosts: [...site.hosts, hostname], version: site.version }))
  return (
    <span>
      <Button onClick={allow} busy={busy} aria-label={`Allow ${visible(hostname)}`}>
        Allow host
      </Button>
    </span>
  )
}

function UnknownHost({ hostname, site, mayWrite }: { hostname: string; site: OwnSiteResponse; mayWrite: boolean }) {
  if (coversHost(site.hosts, hostname)) return null
  return (
    <span class="row">
      <span>
        An event arrived from <strong>{visible(hostname)}</strong>, which isn't a host of this site.
      </span>
      {mayWrite && <AllowHost hostname={hostname} site={site} />}
    </span>
  )
}

function UseZone({ site, zone }: { site: OwnSiteResponse; zone: string }) {
  const { busy, run } = useChange(site.id)
  return (
    <span>
      <Button busy={busy} onClick={() => run(() => patch(`/api/private/sites/${site.id}/settings`, { timezone: zone }))}>
        Change to {zone}
      </Button>
    </span>
  )
}

/** Returns a function that changes the site and reloads it. A failure is shown as a toast. */
function useChange(siteId: number) {
  const client = useQueryClient()
  const [busy, setBusy] = useState(false)
  const run = async (change: () => Promise<unknown>) => {
    setBusy(true)
    try {
      await change()
    } catch (error) {
      toast(errorText(error as Error))
    } finally {
      await client.invalidateQueries({ queryKey: ["site", siteId] })
      setBusy(false)
    }
  }
  return { busy, run }
}

/** Sends a test event through the route that pages use, so that it tests the same path. */
function TestEvent({ site }: { site: OwnSiteResponse }) {
  const [busy, setBusy] = useState(false)
  const sendOne = async () => {
    setBusy(true)
    const answer = await fetch("/api/event", {
      method: "POST",
      headers: { "content-type": "text/plain" },
      body: JSON.stringify({ n: "Test event", d: site.tracking_id, u: examplePage(site), i: false }),
    }).catch(() => undefined)
    setBusy(false)
    if (!answer?.ok) toast("The test event was rejected. The server may be busy or out of disk space.")
    else if (answer.headers.get("x-plausible-dropped")) toast("The test event was dropped by one of the site's rules.")
  }
  return (
    <div>
      <Button onClick={sendOne} busy={busy}>
        Send test event
      </Button>
      <p class="small quiet">Records an event called “Test event” from this browser.</p>
    </div>
  )
}
