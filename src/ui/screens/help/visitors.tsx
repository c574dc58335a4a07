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
      <h2>Visitor</h2>
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
      <h2>Identity modes</h2>
      <p>How long a visitor is recognized is a setting of the site (Settings, Privacy and retention).</p>
      <div class="table-wrap" tabIndex={0} role="region" aria-label="Identity modes">
        <table class="table">
          <caption class="visually-hidden">Identity modes</caption>
          <thead>
            <tr>
              <th scope="col">Mode</th>
              <th scope="col">Recognized for</th>
              <th scope="col">Stored on the device</th>
            </tr>
          </thead>
          <tbody>
            {MODES.map(([mode, recognizedFor, stored]) => (
              <tr key={mode}>
                <th scope="row">{mode}</th>
                <td>{recognizedFor}</td>
                <td>{stored}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p>
        Retention, cohorts and power users need an identity that lasts longer than a day. Otherwise they say so instead of showing a wrong
        0%. Browsers that send Global Privacy Control or Do Not Track are counted without a persistent ID.
      </p>
    </section>
    <section class="stack">
      <h2>Visit</h2>
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
      </ul>
      <p>
        Every figure is computed from all events, without sampling. Estimates, such as imported daily totals over several days, are marked
        ≈.
      </p>
    </section>
  </>
)
