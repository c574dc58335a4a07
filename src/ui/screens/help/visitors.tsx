const MODES: readonly (readonly [mode: string, known: string, stored: string])[] = [
  ["Daily (usual)", "one local day", "nothing"],
  ["Weekly", "one week from Monday on", "nothing"],
  ["Monthly", "one calendar month", "nothing"],
  ["Identified", "whoever your pages name by identify(): as long as data is kept; others one day", "nothing"],
  ["Persistent", "after consent until the id expires, 180 days unless set otherwise; others one day", "a random id, after consent"],
]

export const Visitors = () => (
  <>
    <section class="stack">
      <h2>Visitor</h2>
      <p>
        A visitor is a keyed hash of site, address and browser with a random salt. The salt belongs to one site and one day and is destroyed
        afterwards: from then on nobody, you included, can say who a visitor was or join two days. The address itself is never stored.
      </p>
      <p>
        Over several days visitors are therefore the sum of the days’ visitors: somebody who comes on three days counts three times. The
        figure says so: <em>unique per day</em>.
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
              <th scope="col">Known for</th>
              <th scope="col">Stored on the device</th>
            </tr>
          </thead>
          <tbody>
            {MODES.map(([mode, known, stored]) => (
              <tr key={mode}>
                <th scope="row">{mode}</th>
                <td>{known}</td>
                <td>{stored}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p>
        Retention, cohorts and power users need a longer identity than a day; they say so instead of showing a wrong 0%. Browsers that send
        Global Privacy Control or Do Not Track are counted without any lasting id.
      </p>
    </section>
    <section class="stack">
      <h2>Visit</h2>
      <p>
        A visit ends after more than 30 minutes without an event, at the latest after 24 hours. It counts in the period in which it began.
        Another referrer or campaign does not begin a new one.
      </p>
      <ul>
        <li>
          <strong>Bounce rate:</strong> visits with at most one page view and no interactive event of your own, out of all visits.
        </li>
        <li>
          <strong>Visit duration:</strong> from the first to the last page view or event; a visit of one event counts 0 s.
        </li>
        <li>
          <strong>Engaged time:</strong> time in which a page was really in use, as the tracker reports it.
        </li>
        <li>
          <strong>Visitors now:</strong> visitors with any event in the last five minutes.
        </li>
      </ul>
      <p>
        Every figure is computed from the events themselves: nothing is sampled. What is an estimate, such as imported daily totals over
        several days, carries ≈.
      </p>
    </section>
  </>
)
