import { Link } from "wouter"
import { canOnSite, useMe } from "../../api/session.ts"
import { CodeBlock } from "../../parts/copy.tsx"
import { visible } from "../../text/safe-text.tsx"

export function Begin() {
  const me = useMe()
  const sites = me?.sites.filter(({ id }) => canOnSite(me, id, "site:write")) ?? []
  return (
    <>
      <section class="stack">
        <h2>Add a site and its snippet</h2>
        <ol>
          <li>
            <Link href="/sites/new">Add a site</Link> with its name, hosts and time zone. Only events from its hosts are counted.
          </li>
          <li>Paste its snippet into the head of every page. Each site has its own snippet with its tracking ID.</li>
          <li>Open a page. The installation check shows within seconds whether the event has arrived and, if not, why.</li>
        </ol>
        {sites.length > 0 && (
          <p>
            You'll find the snippet in Settings → General:{" "}
            {sites.slice(0, 5).map(({ id, name }, index) => (
              <>
                {index > 0 && ", "}
                <Link href={`/sites/${id}/settings/general`}>{visible(name)}</Link>
              </>
            ))}
            .
          </p>
        )}
      </section>
      <section class="stack">
        <h2>What is tracked automatically</h2>
        <p>
          Page views, navigation inside single-page applications, time on page, scroll depth, clicks on outbound links, downloads and forms.
          No cookies are set, and visitors' IP addresses are never written to disk.
        </p>
      </section>
      <section class="stack">
        <h2>Measure web vitals</h2>
        <p>
          Add the attribute <code>data-vitals</code> to the snippet. A second script of 1 kB then measures how fast pages load and respond:
          largest contentful paint, interaction to next paint, cumulative layout shift, first contentful paint and time to first byte.
        </p>
      </section>
      <section class="stack">
        <h2>Why are my visits not counted?</h2>
        <ul>
          <li>
            Pages on localhost are not counted unless the script has the attribute <code>data-local</code>.
          </li>
          <li>
            A Content-Security-Policy must allow this instance in <code>script-src</code> and <code>connect-src</code>.
          </li>
          <li>
            If the instance is behind a proxy, it must trust the proxy; otherwise all visitors look like one:{" "}
            <code>FOOTFALL_TRUSTED_PROXIES</code>.
          </li>
          <li>
            Events dropped by a rule (bots, spam, unknown hosts, your shields) are counted by reason. Select <em>dropped</em> next to the
            figures to see them.
          </li>
          <li>
            You may have excluded your own browser by opening a page with <code>#footfall-ignore</code>. Open it again to be counted.
          </li>
        </ul>
      </section>
      <section class="stack">
        <h2>Migrate from Plausible, Umami or GoatCounter</h2>
        <ul>
          <li>Plausible: change the script URL. The domain must be a host of the site.</li>
          <li>Umami: change the script URL and enter the website ID in Settings → Tracking.</li>
          <li>
            GoatCounter: change <code>data-goatcounter</code> to this instance’s <code>/count</code> and the script URL to{" "}
            <code>/count.js</code>.
          </li>
        </ul>
      </section>
    </>
  )
}

const CALL = `<script>window.footfall = window.footfall || function () { (footfall.q = footfall.q || []).push(arguments) }</script>
<button onclick="footfall('signup', { props: { plan: 'yearly' } })">Sign up</button>`
const ATTRIBUTE = `<button data-footfall-event="signup" data-footfall-prop-plan="yearly">Sign up</button>`

export const EventsAndGoals = () => (
  <>
    <section class="stack">
      <h2>Send custom events</h2>
      <p>Call a function, with optional properties:</p>
      <CodeBlock text={CALL} label="Copy code" />
      <p>Or use attributes, without any script:</p>
      <CodeBlock text={ATTRIBUTE} label="Copy attributes" />
      <ul>
        <li>Event names have 1 to 120 characters and are case-sensitive.</li>
        <li>An event can have up to 30 properties. Values are stored as text.</li>
        <li>
          With <code>interactive: false</code> an event is counted, but a visit with no other activity still counts as a bounce.
        </li>
        <li>
          Servers send events to <code>POST /api/public/v1/sites/:id/events</code> with an API key that has the events:write scope.
        </li>
      </ul>
    </section>
    <section class="stack">
      <h2>Set up goals</h2>
      <p>Goals count the visits that matter. A goal can be:</p>
      <ul>
        <li>an event, by name;</li>
        <li>a page, by path: an exact path, its start, a part of it or a pattern with * as a wildcard;</li>
        <li>a scroll depth on a page.</li>
      </ul>
      <p>
        Goals apply to past data, too: a new or changed goal counts all recorded events. <em>Conversions</em> count every completion,{" "}
        <em>unique conversions</em> count the visitors who completed the goal. The conversion rate is the share of all visitors in the
        period who converted.
      </p>
    </section>
    <section class="stack">
      <h2>Build funnels</h2>
      <p>
        A funnel has two to ten steps, pages or events, that visitors take in this order. Other pages in between don't matter unless the
        steps must follow directly.
      </p>
    </section>
  </>
)
