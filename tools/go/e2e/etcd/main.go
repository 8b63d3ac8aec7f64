// Program etcd is one etcd member on loopback addresses, with its data in a given directory.
//
// It prints "ready" once it serves, and ends when it is told to.
package main

import (
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

func main() {
	directory := flag.String("data", "", "directory of the data")
	clients := flag.String("clients", "", "URL that clients connect to")
	peers := flag.String("peers", "", "URL that peers connect to")
	flag.Parse()
	if err := serve(*directory, *clients, *peers); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(directory, clients, peers string) error {
	clientURL, err := url.Parse(clients)
	if err != nil {
		return err
	}
	peerURL, err := url.Parse(peers)
	if err != nil {
		return err
	}
	config := embed.NewConfig()
	config.Dir = directory
	config.LogLevel = "error"
	config.UnsafeNoFsync = true
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{*clientURL}, []url.URL{*clientURL}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{*peerURL}, []url.URL{*peerURL}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	etcd, err := embed.StartEtcd(config)
	if err != nil {
		return err
	}
	defer etcd.Close()
	select {
	case <-etcd.Server.ReadyNotify():
		fmt.Println("ready")
	case <-time.After(time.Minute):
		return fmt.Errorf("not ready after a minute")
	}
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM, syscall.SIGINT)
	select {
	case <-told:
		return nil
	case err := <-etcd.Err():
		return err
	}
}
