import { Link } from "wouter"
import { CodeBlock } from "../../parts/copy.tsx"
import { DataTable } from "../../parts/data-table.tsx"
import { KeyList } from "../../shell/key-help.tsx"

const MODES: readonly (readonly [mode: string, recognizedFor: string, stored: string])[] = [
  ["Daily (default)", "one local day", "nothing"],
  ["Weekly", "one week, Monday to Sunday", "nothing"],
  ["Monthly", "one calendar month", "nothing"],
  ["Identified", "users named with identify(): as long as data is kept; everyone else: one day", "nothing"],
  ["Persistent", "after consent: until the ID expires (180 days by default); everyone else: one day", "a random ID, after consent"],
]

export const Visitors = () => (
  <>
    <section class="stack">
      <h2>How visitors are counted</h2>
      <p>
        A visitor is a keyed hash of site, IP address and browser with a random salt. The salt is specific to one site and one day and is
        destroyed afterwards. From then on no one, including you, can identify a visitor or link two days. The IP address itself is never
        stored.
      </p>
      <p>
        Over several days, the number of visitors is therefore the sum of each day’s visitors: someone who visits on three days counts three
        times. The figure is marked <em>counted per day</em>.
      </p>
    </section>
    <section class="stack">
      <h2>How long visitors are recognized</h2>
      <p>How long a visitor is recognized is a setting of the site (Settings, Privacy and retention).</p>
      <DataTable
        stacks
        caption="Identity modes"
        rows={MODES}
        keyOf={([mode]) => mode}
        columns={[
          { id: "mode", label: "Mode", cell: ([mode]) => mode },
          { id: "recognized", label: "Recognized for", cell: ([, recognizedFor]) => recognizedFor },
          { id: "stored", label: "Stored on the device", cell: ([, , stored]) => stored },
        ]}
      />
      <p>
        Retention, cohorts and power users need an identity that lasts longer than a day. Otherwise they explain this instead of showing a
        misleading 0%. Browsers that send Global Privacy Control or Do Not Track are counted without a persistent ID.
      </p>
    </section>
    <section class="stack">
      <h2>What is a visit?</h2>
      <p>
        A visit ends after more than 30 minutes without an event, at the latest after 24 hours. It counts in the period in which it started.
        A different referrer or campaign doesn't start a new visit.
      </p>
      <ul>
        <li>
          <strong>Bounce rate:</strong> visits with at most one page view and no interactive custom event, as a share of all visits.
        </li>
        <li>
          <strong>Visit duration:</strong> from the first to the last page view or event; a visit with one event counts as 0 s.
        </li>
        <li>
          <strong>Engaged time:</strong> time in which a page was actively used, as reported by the tracker.
        </li>
        <li>
          <strong>Current visitors:</strong> visitors with any event in the last five minutes.
        </li>
        <li>
          <strong>Visits:</strong> the page with single visits shows what happened, never who visited. Visitors have pseudonyms, and you
          need the permission to see people.
        </li>
      </ul>
      <p>
        Every figure is computed from all events, without sampling. Estimates, such as imported daily totals over several days, are marked
        ≈.
      </p>
    </section>
  </>
)

const EXAMPLE = "/sites/1?period=28d&compare=previous_period&f=page:is:/pricing|/plans&f=country:is_not:DE"

export const Filters = () => (
  <>
    <section class="stack">
      <h2>Filter a report</h2>
      <p>
        Click a row to filter by it, and click it again to remove the filter. Filters apply to all cards and to the figures above. A filter
        with several values matches any of them. Several filters must all match, unless you choose <strong>Any filter</strong> in the
        dialog.
      </p>
      <ul>
        <li>
          <em>matches</em> compares the whole value with a pattern in which * stands for any text, including slashes. Regular expressions
          aren't supported.
        </li>
        <li>
          A missing value is <code>(none)</code>, shown as <em>Unknown</em> where every visit should have one. It matches <em>is not</em>{" "}
          unless it is one of the values.
        </li>
        <li>
          Filters by page, event, goal and property must match the same event: <em>page is /pricing</em> and <em>event is signup</em>{" "}
          together match sign-ups on that page.
        </li>
        <li>Save filters you use often as a segment, for yourself or for everyone with access to the site.</li>
      </ul>
    </section>
    <section class="stack">
      <h2>Share and bookmark a view</h2>
      <p>
        The URL contains everything a page shows, so you can bookmark it, share it and go back and forward. It can hold up to 10 filters
        with 50 values each.
      </p>
      <CodeBlock text={EXAMPLE} label="Copy example" />
      <dl class="facts">
        <dt>
          <code>period</code>
        </dt>
        <dd>today, yesterday, 24h, 7d, 28d, 30d, 90d, 91d, month, last_month, year, 6mo, 12mo, all; or custom with from and to</dd>
        <dt>
          <code>compare</code>
        </dt>
        <dd>none, previous_period, previous_year, custom</dd>
        <dt>
          <code>match</code>
        </dt>
        <dd>weekday: the comparison period starts on the same day of the week; date: it doesn't</dd>
        <dt>
          <code>interval</code>
        </dt>
        <dd>auto, hour, day, week, month</dd>
        <dt>
          <code>f</code>
        </dt>
        <dd>dimension:operator:value, with | between values. Can be repeated. Encode %, : and | in values as %25, %3A and %7C</dd>
        <dt>
          <code>any</code>
        </dt>
        <dd>the same form, for filters of which one must match</dd>
        <dt>
          <code>segment</code>, <code>cohort</code>
        </dt>
        <dd>the ID of a saved segment or cohort</dd>
      </dl>
      <p>Unknown parts are ignored, and the page lists them.</p>
    </section>
    <section class="stack">
      <h2>Days and time zones</h2>
      <p>
        Days are in the site’s time zone, which is shown next to the period. Periods of N days end today. A day that isn’t over yet is drawn
        dashed, marked <em>in progress</em> and compared with a full day.
      </p>
    </section>
  </>
)

export const Keyboard = () => (
  <>
    <p>
      Shortcuts are single letters. They work on a site's pages while you aren't typing and no dialog is open. You can turn them off in your{" "}
      <Link href="/account/preferences">preferences</Link>.
    </p>
    <KeyList />
  </>
)
