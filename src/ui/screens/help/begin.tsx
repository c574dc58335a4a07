import { Link } from "wouter"
import { canOnSite, useMe } from "../../me.ts"
import { visible } from "../../safe-text.ts"

export function Begin() {
  const me = useMe()
  const sites = me?.sites.filter(({ id }) => canOnSite(me, id, "site:write")) ?? []
  return (
    <>
      <section class="stack">
        <h2>Three steps</h2>
        <ol>
          <li>
            <Link href="/sites/new">Add a site</Link>: its name, its hosts, its time zone. Only events from its hosts are counted.
          </li>
          <li>Put its line into the head of every page. Each site has a line of its own, which carries its tracking id.</li>
          <li>Open a page. The live check of the site says within seconds whether the event has arrived, and if not, why.</li>
        </ol>
        {sites.length > 0 && (
          <p>
            The line of a site stands in its settings under Tracking:{" "}
            {sites.slice(0, 5).map(({ id, name }, index) => (
              <>
                {index > 0 && ", "}
                <Link href={`/sites/${id}/settings/tracking`}>{visible(name)}</Link>
              </>
            ))}
            .
          </p>
        )}
      </section>
      <section class="stack">
        <h2>What is counted by itself</h2>
        <p>
          Page views, navigation inside single-page applications, time on page, scroll depth, clicks on outbound links, downloads and forms.
          No cookies are set, and no address of a visitor is written to disk.
        </p>
      </section>
      <section class="stack">
        <h2>When nothing arrives</h2>
        <ul>
          <li>
            Pages on localhost are not counted unless the script has the attribute <code>data-local</code>.
          </li>
          <li>
            A content security policy must allow this instance in <code>script-src</code> and <code>connect-src</code>.
          </li>
          <li>
            Behind a proxy the instance must trust it, or all visitors look like one: <code>FOOTFALL_TRUSTED_PROXIES</code>.
          </li>
          <li>
            What was refused by a rule (bots, spam, foreign hosts, your own shields) is counted by reason: the mark <em>dropped</em> beside
            the figures leads there.
          </li>
          <li>
            You may have left yourself out: a page opened with <code>#footfall-ignore</code> is not counted in that browser any more.
          </li>
        </ul>
      </section>
      <section class="stack">
        <h2>Coming from elsewhere</h2>
        <ul>
          <li>Plausible: change the address of the script; a domain that is a host of the site is enough.</li>
          <li>Umami: change the address of the script, and tell the site its website id (Settings, Tracking).</li>
          <li>
            GoatCounter: change <code>data-goatcounter</code> to this instance’s <code>/count</code>, and the script to{" "}
            <code>/count.js</code>.
          </li>
        </ul>
      </section>
    </>
  )
}
