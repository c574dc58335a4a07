import { CodeBlock } from "./code-block.tsx"

const CALL = `<script>window.footfall = window.footfall || function () { (footfall.q = footfall.q || []).push(arguments) }</script>
<button onclick="footfall('signup', { props: { plan: 'yearly' } })">Sign up</button>`
const ATTRIBUTE = `<button data-footfall-event="signup" data-footfall-prop-plan="yearly">Sign up</button>`

export const EventsAndGoals = () => (
  <>
    <section class="stack">
      <h2>Events of your own</h2>
      <p>One call, with properties if you like:</p>
      <CodeBlock text={CALL} label="Copy the call" />
      <p>Or an attribute, without any script:</p>
      <CodeBlock text={ATTRIBUTE} label="Copy the attribute" />
      <ul>
        <li>A name has 1 to 120 characters and is kept as it is; upper and lower case differ.</li>
        <li>An event has at most 30 properties. Their values are stored as text.</li>
        <li>
          With <code>interactive: false</code> an event is counted, and a visit with nothing else stays a bounce.
        </li>
        <li>
          Servers send theirs to <code>POST /api/public/v1/sites/:id/events</code> with a key that may send events.
        </li>
      </ul>
    </section>
    <section class="stack">
      <h2>Goals</h2>
      <p>A goal names something worth counting:</p>
      <ul>
        <li>an event, by its name;</li>
        <li>a page, by its path: exactly, by its beginning, by a part of it, or by a pattern in which * is any text;</li>
        <li>a scroll depth on a page.</li>
      </ul>
      <p>
        Goals look at what is stored: a new one counts the past too, and a changed one counts it anew. <em>Conversions</em> are all
        completions, however often one visitor does it; <em>unique conversions</em> are the visitors who did. The conversion rate is
        converting visitors out of all visitors of the period.
      </p>
    </section>
    <section class="stack">
      <h2>Funnels</h2>
      <p>
        Two to ten steps, pages or events, which a visitor takes in this order. What is between two steps does not matter, unless the funnel
        is strict.
      </p>
    </section>
  </>
)
