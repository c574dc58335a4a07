import { Link } from "wouter"
import { canOnSite, useMe } from "../../api/session.ts"
import { visible } from "../../text/safe-text.tsx"

export function Begin() {
  const me = useMe()
  const sites = me?.sites.filter(({ id }) => canOnSite(me, id, "site:write")) ?? []
  return (
    <>
      <section class="stack">
        <h2>Set up a site in three steps</h2>
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
        <h2>Tracked automatically</h2>
        <p>
          Page views, navigation inside single-page applications, time on page, scroll depth, clicks on outbound links, downloads and forms.
          No cookies are set, and visitors' IP addresses are never written to disk.
        </p>
      </section>
      <section class="stack">
        <h2>Troubleshooting</h2>
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
        <h2>Migrating</h2>
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
