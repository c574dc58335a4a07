import { CodeBlock } from "./code-block.tsx"

const EXAMPLE = "/sites/1?period=28d&compare=previous_period&f=page:is:/pricing|/plans&f=country:is_not:DE"

export const Filters = () => (
  <>
    <section class="stack">
      <h2>Filtering</h2>
      <p>
        A click on a row filters by it; the same click again takes the filter away. A filter holds for every card and for the figures above.
        Values of one filter are alternatives, several filters must all hold.
      </p>
      <ul>
        <li>
          <em>matches</em> compares the whole value with a pattern in which * is any text, slashes included. There are no regular
          expressions.
        </li>
        <li>
          A value that is missing is <code>(none)</code>, on pages <em>Unknown</em> where every visit has one; it passes <em>is not</em>{" "}
          unless it is named.
        </li>
        <li>
          Conditions on page, event, goal and property must be met by the same event: <em>page is /pricing</em> and <em>event is signup</em>{" "}
          are sign-ups on that page.
        </li>
        <li>Filters that are needed often can be saved as a segment, for yourself or for all.</li>
      </ul>
    </section>
    <section class="stack">
      <h2>The address is the state</h2>
      <p>
        Whatever a page shows stands in its address: bookmark it, send it, go back and forward. At most 10 filters with 50 values each fit
        in.
      </p>
      <CodeBlock text={EXAMPLE} label="Copy the example" />
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
        <dd>weekday: the earlier period begins on the same weekday; date</dd>
        <dt>
          <code>interval</code>
        </dt>
        <dd>auto, hour, day, week, month</dd>
        <dt>
          <code>f</code>
        </dt>
        <dd>
          dimension:operator:value, with | between values; may come several times. In a value, %, : and | are written as %25, %3A and %7C
          first
        </dd>
        <dt>
          <code>segment</code>, <code>cohort</code>
        </dt>
        <dd>the id of a saved one</dd>
      </dl>
      <p>A part that does not exist is left out, and the page says which.</p>
    </section>
    <section class="stack">
      <h2>Days and zones</h2>
      <p>
        Days are the days of the site’s time zone, which stands beside the period. Periods of N days end today; what is not over yet is
        drawn dashed, called <em>so far</em>, and compared with a whole one.
      </p>
    </section>
  </>
)
