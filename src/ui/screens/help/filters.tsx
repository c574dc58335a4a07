import { CodeBlock } from "./code-block.tsx"

const EXAMPLE = "/sites/1?period=28d&compare=previous_period&f=page:is:/pricing|/plans&f=country:is_not:DE"

export const Filters = () => (
  <>
    <section class="stack">
      <h2>Filtering</h2>
      <p>
        Click a row to filter by it, and click it again to remove the filter. Filters apply to all cards and to the figures above. A filter
        with several values matches any of them; several filters must all match.
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
      <h2>The URL</h2>
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
