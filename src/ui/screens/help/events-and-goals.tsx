import { CodeBlock } from "./code-block.tsx"

const CALL = `<script>window.footfall = window.footfall || function () { (footfall.q = footfall.q || []).push(arguments) }</script>
<button onclick="footfall('signup', { props: { plan: 'yearly' } })">Sign up</button>`
const ATTRIBUTE = `<button data-footfall-event="signup" data-footfall-prop-plan="yearly">Sign up</button>`

export const EventsAndGoals = () => (
  <>
    <section class="stack">
      <h2>Custom events</h2>
      <p>Call a function, with optional properties:</p>
      <CodeBlock text={CALL} label="Copy code" />
      <p>Or use attributes, without any script:</p>
      <CodeBlock text={ATTRIBUTE} label="Copy attributes" />
      <ul>
        <li>Event names have 1 to 120 characters and are case-sensitive.</li>
        <li>An event can have up to 30 properties. Values are stored as text.</li>
        <li>
          With <code>interactive: false</code> an event is counted without ending a bounce.
        </li>
        <li>
          Servers send events to <code>POST /api/public/v1/sites/:id/events</code> with an API key that has the events:write scope.
        </li>
      </ul>
    </section>
    <section class="stack">
      <h2>Goals</h2>
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
      <h2>Funnels</h2>
      <p>
        A funnel has two to ten steps, pages or events, that visitors take in this order. Other pages in between don't matter unless the
        steps must follow directly.
      </p>
    </section>
  </>
)
