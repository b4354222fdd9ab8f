// Says what is wrong with the page: a script that cannot be loaded, for example because of a 429,
// which is then retried; or any other error of its scripts. It runs before them, and old browsers
// read it: without it, a syntax that they do not know leaves the page empty.
(function () {
  var RETRY_SECONDS = 10;
  var origin = new URL('/', document.currentScript.src).href;
  var isRetrying = false;

  function say(text) {
    var place = document.querySelector('[data-faults]');
    if (!place) return;
    place.textContent = text;
    place.classList.add('fault');
  }

  function sayFault(fault) {
    // Errors of other scripts follow from the missing one.
    if (isRetrying) return;
    say(
      'This page does not work: ' +
        fault +
        '. Reload it, or use a browser of the last three years.',
    );
  }

  function load(script, isRetry) {
    // The cache of the browser may contain the failure.
    fetch(script, { cache: 'reload' })
      .catch(function () {})
      .then(function (response) {
        if (response && response.ok && isRetry) return location.reload();
        var seconds = Number(response && response.headers.get('retry-after')) || RETRY_SECONDS;
        say('Part of this page failed to load: retrying in ' + seconds + ' s');
        setTimeout(load, seconds * 1000, script, true);
      });
  }

  function onError(event) {
    var script = event.target.src;
    // Scripts of browser extensions are not watched.
    if (event.message && (event.filename || '').indexOf(origin) === 0) sayFault(event.message);
    if (event.target.tagName !== 'SCRIPT' || script.indexOf(origin) !== 0 || isRetrying) return;
    isRetrying = true;
    load(script, false);
  }

  // Errors of elements do not bubble, so the listener captures them.
  addEventListener('error', onError, true);
  addEventListener('unhandledrejection', function (event) {
    // The page explains some rejections itself.
    setTimeout(function () {
      var fault = event.reason;
      var isOurs = fault instanceof Error && String(fault.stack).indexOf(origin) >= 0;
      if (isOurs && !event.defaultPrevented) sayFault(fault);
    });
  });
})();
